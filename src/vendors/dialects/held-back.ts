import { unreadable } from '../upstream-error.js';

/** Limit on everything held back of one answer; no model writes as much. */
const MAX_HELD_CHARACTERS = 16 * 1024 * 1024;
/** Overhead of a piece besides its length. */
const CHARACTERS_OF_PIECE = 64;

/**
 * Limits the parts of an answer that are buffered until more arrives, such as a signature in pieces.
 * They do not appear in the answer as passed on, so other limits miss them.
 */
export class HeldBackLimit {
  private characters = 0;

  /** @throws UpstreamError `unreadable` beyond the limit */
  add(piece: string): void {
    this.characters += CHARACTERS_OF_PIECE + piece.length;
    if (this.characters <= MAX_HELD_CHARACTERS) return;
    throw unreadable(`more than ${MAX_HELD_CHARACTERS} characters without an event`);
  }
}
