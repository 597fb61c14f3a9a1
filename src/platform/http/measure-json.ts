import { furtherParts } from './json-scanner.js';

/**
 * Searched for natively, as long lists of numbers have nothing else between them: 20 MB of these take 11 ms,
 * and 50 where each character is looked at.
 */
const MARK = /["[\]{}]/g;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const LAST_SPACE = 0x20;

/**
 * Counts how much there is to build of a JSON text before it is built: the `parts` and the `depth` of
 * `JsonScanner`, of text instead of bytes.
 *
 * @param maxParts the count ends when it has counted more, and knows nothing of what follows
 */
export function measureJson(text: string, maxParts = Infinity): { parts: number; depth: number } {
  /** Members so far, of each object that is open. */
  const places: (number | undefined)[] = [];
  let parts = 0;
  let depth = 0;
  MARK.lastIndex = 0;
  while (parts <= maxParts && MARK.test(text)) {
    const at = MARK.lastIndex - 1;
    const mark = text.charCodeAt(at);
    if (mark === QUOTE) {
      if (!isMemberValue(text, at)) {
        const place = places.at(-1);
        parts++;
        if (place !== undefined) parts += furtherParts((places[places.length - 1] = place + 1));
      }
      MARK.lastIndex = endOfString(text, at);
    } else if (mark === OPEN_BRACKET || mark === OPEN_BRACE) {
      parts++;
      places.push(mark === OPEN_BRACE ? 0 : undefined);
      if (places.length > depth) depth = places.length;
    } else {
      places.pop();
    }
  }
  return { parts, depth };
}

/** Such a string has been counted by its key. */
function isMemberValue(text: string, start: number): boolean {
  let before = start - 1;
  while (text.charCodeAt(before) <= LAST_SPACE) before--;
  return text.charCodeAt(before) === COLON;
}

/** Offset after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslash = quote;
    while (text.charCodeAt(backslash - 1) === BACKSLASH) backslash--;
    if ((quote - backslash) % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}
