const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether text is a UUID in its usual spelling, of any version. To be asked of ids from outside
 * before they reach a `uuid` column, where anything else makes the statement fail.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
