export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/**
 * Text from outside may hold NUL or lone surrogates, which PostgreSQL's `text` refuses. They are
 * stored escaped with a backslash, and a backslash as two, so that every string has exactly one
 * stored form and equality in SQL keeps its meaning.
 */
export function toStoredText(text: string): string {
  if (!text.includes('\\') && !text.includes('\u0000') && text.isWellFormed()) return text;
  return text.replace(
    // eslint-disable-next-line no-control-regex -- NUL is one of the characters looked for.
    /\\|\u0000|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
    (character) =>
      character === '\\' ? '\\\\' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The reverse of `toStoredText`. */
export function fromStoredText(stored: string): string {
  if (!stored.includes('\\')) return stored;
  return stored.replace(/\\(?:\\|u([0-9a-f]{4}))/g, (_, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(parseInt(hex, 16)),
  );
}

/** For TypeORM columns that hold text from outside, null included. */
export const storedText = {
  to: (text: string | null | undefined) => text && toStoredText(text),
  from: (stored: string | null | undefined) => stored && fromStoredText(stored),
};

/**
 * Whether text is a UUID in its usual spelling, of any version. To be asked of ids from outside
 * before they reach a `uuid` column, where anything else makes the statement fail.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
