/** Control and format characters, which includes those that change the direction of text, and line separators. */
const UNPRINTABLE = /[\p{C}\u2028\u2029]+/gu;

/**
 * Returns a text from outside as one line without control characters, so that it cannot forge lines or
 * reorder what surrounds it.
 *
 * @param maxLength in code points; longer texts end in `…`
 */
export function oneLine(text: string, maxLength = 200): string {
  const line = text.replace(UNPRINTABLE, ' ').replace(/\s+/gu, ' ').trim();
  const characters = [...line.slice(0, 2 * maxLength + 2)];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : line;
}
