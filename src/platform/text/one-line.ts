/** Control and format characters, which includes those that change the direction of text, and line separators. */
const UNPRINTABLE = /[\p{C}\u2028\u2029]+/gu;

/** The same without unassigned and private characters, which do nothing to a terminal. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

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

/**
 * Returns a line for terminals and logs with control and format characters as `\uXXXX`, so that they do nothing
 * and stay visible. JSON keeps its meaning.
 */
export function escapeControls(line: string): string {
  return line.replace(CONTROLS, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Does the same to each line of a text. */
export function escapeControlsOfLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}
