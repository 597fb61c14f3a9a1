const MAX_NAME_LENGTH = 128;
const MAX_VALUE_LENGTH = 4_096;

/** They belong to the connection or to the body, which are ours. */
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

/** RFC 9110: a token. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

/**
 * What is wrong with a header of a delivery, as the end of a sentence; undefined: nothing. The one
 * rule for what a tenant may set and for what is sent.
 */
export function findHeaderProblem(name: string, value: string): string | undefined {
  if (!isHeaderName(name)) return 'is not a name that a header can have';
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
