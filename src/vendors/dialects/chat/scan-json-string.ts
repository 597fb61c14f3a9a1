const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/** An escaped surrogate pair, which is one character, from its first `u` on. */
const ESCAPED_PAIR = /ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}/iy;

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
      characters++;
      index++;
      if (latin1.charCodeAt(index) !== LOWER_U) continue;
      ESCAPED_PAIR.lastIndex = index;
      index += ESCAPED_PAIR.test(latin1) ? 'uXXXX\\uXXXX'.length - 1 : 'uXXXX'.length - 1;
    } else if ((byte & 0xc0) !== 0x80) {
      characters++; // Continuation bytes of UTF-8 belong to the character before.
    }
  }
  return { end: -1, characters };
}
