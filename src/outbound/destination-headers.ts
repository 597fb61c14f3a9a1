import { InvalidRequestError } from '../common/errors/gateway-errors.js';

const MAX_HEADERS = 20;
const MAX_NAME_LENGTH = 128;
const MAX_VALUE_LENGTH = 4_096;

/** They belong to the connection or to the body, which are ours. */
const RESERVED: ReadonlySet<string> = new Set([
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

/** What is wrong with a header, as the end of a sentence; undefined: nothing. */
export function findHeaderProblem(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'is not a name that a header can have';
  if (name.length > MAX_NAME_LENGTH) return `must have at most ${MAX_NAME_LENGTH} characters`;
  if (RESERVED.has(name.toLowerCase())) return 'is a header that the gateway sets itself';
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    return 'must have a value without line breaks or control characters';
  }
  if (value.length > MAX_VALUE_LENGTH) {
    return `must have a value of at most ${MAX_VALUE_LENGTH} characters`;
  }
  return undefined;
}

/**
 * Refuses headers that cannot be sent along with a delivery.
 *
 * @throws InvalidRequestError that names `param` or the header, as `headers.X-Token`
 */
export function assertDestinationHeaders(
  headers: Readonly<Record<string, string>>,
  param: string,
): void {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) {
    throw new InvalidRequestError(param, `${param} must have at most ${MAX_HEADERS} headers.`);
  }
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const shown = `${param}.${name.slice(0, MAX_NAME_LENGTH)}`;
    const problem = findHeaderProblem(name, value);
    if (problem !== undefined) throw new InvalidRequestError(shown, `${shown} ${problem}.`);
    if (seen.has(name.toLowerCase())) {
      throw new InvalidRequestError(shown, `${shown} is given twice.`);
    }
    seen.add(name.toLowerCase());
  }
}
