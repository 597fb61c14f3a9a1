import { isIP } from 'node:net';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { isPublicAddress, resolveOutbound, type Resolve } from '../http/public-address.js';

const MAX_URL_LENGTH = 2_048;
/** A name that is not found so fast is taken: what counts is the look-up when connecting. */
const LOOKUP_LIMIT_MS = 2_000;

export interface DestinationRules {
  /** Lifts the rule that destinations have public addresses. */
  readonly allowPrivate: boolean;
  readonly resolveName?: Resolve;
}

/** A destination as a URL, or what is wrong with it, as the end of a sentence. */
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
    return 'must not name credentials; send them in a header';
  }
  if (!allowPrivate && isInside(url)) return 'must lead to a public address';
  return url;
}

/**
 * Refuses what could not be delivered to anyway: what is no http(s) URL, names credentials, or
 * leads to an address that is not public. A name that cannot be looked up now is taken; each
 * delivery checks the address that it connects to.
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
  if (rules.allowPrivate) return;
  const addresses = await addressesOf(hostOf(url), rules.resolveName ?? resolveOutbound);
  if (!addresses.every(isPublicAddress)) {
    throw new InvalidRequestError(param, `${param} must lead to a public address.`);
  }
}

/** By the host alone. The URL parser has turned decimal, octal and hexadecimal forms into plain ones. */
function isInside(url: URL): boolean {
  const host = hostOf(url);
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return host === 'localhost' || host.endsWith('.localhost');
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** None when there is no answer. */
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
