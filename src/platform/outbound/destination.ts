import { isIP } from 'node:net';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { isPublicAddress, resolveOutbound, type Resolve } from '../http/public-address.js';

const MAX_NAME_LENGTH = 128;

const MAX_VALUE_LENGTH = 4_096;

/** Headers of the connection or the body, which the gateway sets. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export const MAX_URL_LENGTH = 2_048;

/** A name that does not resolve in this time is accepted: the look-up at connect time decides. */
const LOOKUP_LIMIT_MS = 2_000;

interface DestinationRules {
  /** Allows destinations with private addresses. */
  readonly allowPrivate: boolean;
  readonly resolveName?: Resolve;
}

/** Returns a destination as a URL, or its problem as the end of a sentence. */
export function readDestinationUrl(
  text: string,
  { allowPrivate }: Pick<DestinationRules, 'allowPrivate'>,
): URL | string {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    return 'must be a URL that starts with http:// or https://';
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not contain credentials; send them in a header';
  }
  if (!allowPrivate && isInside(url)) return 'must lead to a public address';
  return url;
}

/**
 * Rejects URLs that could not be delivered to: not http(s), with credentials, or with an address that is not public. A
 * name that does not resolve now is accepted; each delivery checks the address it connects to.
 *
 * @throws InvalidRequestError that names `param`
 */
export async function assertDestinationUrl(
  text: string,
  param: string,
  rules: DestinationRules,
): Promise<void> {
  const url = readDestinationUrl(text, rules);
  if (typeof url === 'string') throw new InvalidRequestError(param, `${param} ${url}.`);
  if (!rules.allowPrivate && (await leadsInside(url, rules.resolveName))) {
    throw new InvalidRequestError(param, `${param} must lead to a public address.`);
  }
}

/** Returns whether a URL leads to an address that is not public, as its host and a look-up show now. */
export async function leadsInside(url: URL, resolveName = resolveOutbound): Promise<boolean> {
  if (isInside(url)) return true;
  const addresses = await addressesOf(hostOf(url), resolveName);
  return !addresses.every(isPublicAddress);
}

/** Names that no public name server resolves. */
const INNER_NAME = /\.(?:localhost|local|internal|home\.arpa)$/;

/** Judges by the host alone. The URL parser has normalized decimal, octal and hexadecimal forms. */
function isInside(url: URL): boolean {
  const host = hostOf(url);
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return !host.includes('.') || INNER_NAME.test(host);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Returns no address when there is no answer. */
function addressesOf(host: string, resolveName: Resolve): Promise<string[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve([]), LOOKUP_LIMIT_MS);
    timer.unref();
    resolveName(host, { all: true }, (error, addresses) => {
      clearTimeout(timer);
      resolve(error ? [] : addresses.map(({ address }) => address));
    });
  });
}

/** RFC 9110: a token. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

/**
 * Returns what is wrong with a delivery's header, as the end of a sentence; undefined when it is valid. Applies to what
 * tenants set and to what is sent.
 */
export function findHeaderProblem(name: string, value: string): string | undefined {
  if (!isHeaderName(name)) return 'is not a valid header name';
  if (name.length > MAX_NAME_LENGTH) return `must have at most ${MAX_NAME_LENGTH} characters`;
  if (CONNECTION_HEADERS.has(name.toLowerCase())) return 'is a header that the gateway sets itself';
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    return 'must have a value without line breaks or control characters';
  }
  if (value.length > MAX_VALUE_LENGTH) {
    return `must have a value of at most ${MAX_VALUE_LENGTH} characters`;
  }
  return undefined;
}
