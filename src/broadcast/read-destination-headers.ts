import { InvalidRequestError } from '../common/errors/gateway-errors.js';

/** What stands in place of a value when headers are shown. Sent back, it means: as before. */
export const MASK = '********';

const MAX_HEADERS = 20;
const MAX_NAME_LENGTH = 100;
const MAX_VALUE_LENGTH = 4_096;
/** RFC 9110: a token. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible characters of Latin-1, with spaces and tabs between them. */
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** Headers that say how the request is framed, or that the gateway sets itself. */
const RESERVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'idempotency-key',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Reads the headers of a destination; names come out in lower case.
 *
 * @param before what the destination has, for values that come back masked
 * @throws InvalidRequestError naming the header at fault
 */
export function readDestinationHeaders(
  received: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const entries = Object.entries(received);
  if (entries.length > MAX_HEADERS) {
    throw new InvalidRequestError(
      'headers',
      `\`headers\` must hold at most ${MAX_HEADERS} headers.`,
    );
  }
  const headers = new Map<string, string>();
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    if (!NAME.test(given) || given.length > MAX_NAME_LENGTH) {
      throw new InvalidRequestError('headers', '`headers` holds a name that is no header name.');
    }
    const param = `headers.${given}`;
    if (RESERVED.has(name)) {
      throw new InvalidRequestError(param, `\`${given}\` is set by the gateway itself.`);
    }
    if (headers.has(name)) {
      throw new InvalidRequestError(param, `\`${given}\` stands in \`headers\` more than once.`);
    }
    const kept = Object.hasOwn(before, name) ? before[name] : undefined;
    const meant = value === MASK && kept !== undefined ? kept : value;
    if (typeof meant !== 'string' || meant.length > MAX_VALUE_LENGTH || !VALUE.test(meant)) {
      throw new InvalidRequestError(
        param,
        `The value of \`${given}\` must be a string of at most ${MAX_VALUE_LENGTH} characters without line breaks.`,
      );
    }
    headers.set(name, meant);
  }
  return Object.fromEntries(headers);
}
