import { unreadable } from '../upstream-error.js';

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
