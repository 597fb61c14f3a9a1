import { unreadable } from '../upstream-error.js';

/** Real answers nest less than 30 deep; deeper ones only serve to exhaust a recursive reader. */
const MAX_DEPTH = 200;
/**
 * Objects, lists and texts. Fifteen thousand tokens with the five likeliest beside each stay below it. So many
 * are read in about a second; the 64 MB that an answer may have would hold twenty times as many, and stop
 * everybody for a minute or fill the memory.
 */
const MAX_PARTS = 1_000_000;
/** What is shorter can be neither too deep nor too much. */
const MIN_LENGTH = 4_096;

/** Searched for natively, as long lists of numbers have nothing else between them. */
const MARK = /["[\]{}]/g;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/**
 * Looks a vendor's JSON over before it is parsed: how much there is to build is counted before it is built.
 *
 * @param what what it should be, for the log
 * @throws UpstreamError `unreadable` for more than 1,000,000 objects, lists and texts, or a depth of more than 200
 */
export function assertReadable(text: string, what: string, status?: number): void {
  if (text.length < MIN_LENGTH) return;
  let parts = 0;
  let depth = 0;
  MARK.lastIndex = 0;
  while (MARK.test(text)) {
    const at = MARK.lastIndex - 1;
    const mark = text.charCodeAt(at);
    if (mark === QUOTE) {
      parts++;
      MARK.lastIndex = endOfString(text, at);
    } else if (mark === OPEN_BRACKET || mark === OPEN_BRACE) {
      parts++;
      depth++;
    } else {
      depth--;
    }
    if (depth > MAX_DEPTH) throw unreadable(`${what} nested more than ${MAX_DEPTH} deep`, status);
    if (parts > MAX_PARTS) throw unreadable(`${what} of more than ${MAX_PARTS} parts`, status);
  }
}

/** Of all that is held back of one answer; no model writes as much. */
const MAX_HELD_CHARACTERS = 16 * 1024 * 1024;
/** What each piece counts beside its length, as it is kept however short it is. */
const CHARACTERS_OF_PIECE = 64;

/**
 * Counts what is held back of one answer until more of it has come, such as a signature in pieces: the answer as it
 * is passed on says nothing of it.
 */
export class HeldBack {
  private characters = 0;

  /** @throws UpstreamError `unreadable` for more than any model writes */
  add(piece: string): void {
    this.characters += CHARACTERS_OF_PIECE + piece.length;
    if (this.characters <= MAX_HELD_CHARACTERS) return;
    throw unreadable(`more than ${MAX_HELD_CHARACTERS} characters that nothing came of`);
  }
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
