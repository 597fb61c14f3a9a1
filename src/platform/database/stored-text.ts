export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Escapes NUL and lone surrogates, which PostgreSQL's `text` rejects, with a backslash, and doubles
 * backslashes. Every string has exactly one stored form, so equality in SQL works.
 */
export function toStoredText(text: string): string {
  if (!text.includes('\\') && !text.includes('\u0000') && text.isWellFormed()) return text;
  return text.replace(
    // eslint-disable-next-line no-control-regex -- NUL is one of the characters to escape.
    /\\|\u0000|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
    (character) =>
      character === '\\' ? '\\\\' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Reverses `toStoredText`. */
export function fromStoredText(stored: string): string {
  if (!stored.includes('\\')) return stored;
  return stored.replace(/\\(?:\\|u([0-9a-f]{4}))/g, (_, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(parseInt(hex, 16)),
  );
}

/** Transforms TypeORM columns of untrusted text; passes null through. */
export const storedText = {
  to: (text: string | null | undefined) => text && toStoredText(text),
  from: (stored: string | null | undefined) => stored && fromStoredText(stored),
};

/**
 * Returns whether text is a UUID in its usual form, of any version. Check external ids with it before
 * they reach a `uuid` column, where anything else fails the statement.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
