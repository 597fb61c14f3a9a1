const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/**
 * Walks a JSON string in text that was decoded as Latin-1 (one character per UTF-8 byte), to its
 * closing quote.
 *
 * @param start offset after the opening quote
 * @returns offset of the closing quote (-1 when there is none) and the string's code points
 */
export function scanJsonString(latin1: string, start: number): { end: number; characters: number } {
  let characters = 0;
  for (let index = start; index < latin1.length; index++) {
    const byte = latin1.charCodeAt(index);
    if (byte === QUOTE) return { end: index, characters };
    if (byte === BACKSLASH) {
      index++;
      if (latin1.charCodeAt(index) === LOWER_U) {
        // The second half of an escaped surrogate pair is not a character of its own.
        if (!/^d[c-f]/i.test(latin1.slice(index + 1, index + 3))) characters++;
        index += 4;
      } else {
        characters++;
      }
    } else if ((byte & 0xc0) !== 0x80) {
      characters++; // Continuation bytes of UTF-8 belong to the character before.
    }
  }
  return { end: -1, characters };
}
