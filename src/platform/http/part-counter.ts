import { furtherParts } from './top-level-members.js';

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const LAST_SPACE = 0x20;

/**
 * Counts what a JSON text is made of while it arrives, piece by piece: the `parts` of
 * `scanTopLevelMembers`. A body that is too much for its parser is refused by its first pieces then,
 * and the rest need not be kept.
 */
export class PartCounter {
  private parts = 0;
  private isInString = false;
  /** A backslash was the last byte of a piece, within a string. */
  private isEscaped = false;
  /** A string here is a member's value, which its key has been counted for. */
  private isAfterColon = false;
  /** Members so far, of each object that is open. */
  private readonly places: number[] = [];

  /** @returns the parts of all pieces so far */
  add(piece: Buffer): number {
    if (piece.length === 0) return this.parts;
    let index = this.isInString ? this.skipString(piece, 0) : 0;
    const { places } = this;
    let { parts, isAfterColon } = this;
    for (; index < piece.length; index++) {
      const byte = piece[index]!;
      if (byte === QUOTE) {
        if (!isAfterColon) parts++;
        index = this.skipString(piece, index + 1) - 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        parts++;
        places.push(0);
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        places.pop();
      } else if (byte === COLON) {
        parts += furtherParts(++places[places.length - 1]!);
        isAfterColon = true;
        continue;
      }
      if (byte > LAST_SPACE) isAfterColon = false;
    }
    this.parts = parts;
    this.isAfterColon = isAfterColon;
    return parts;
  }

  /** @returns the offset after the string, the piece's length when it goes on in the next */
  private skipString(piece: Buffer, start: number): number {
    let from = this.isEscaped ? start + 1 : start;
    for (;;) {
      const quote = piece.indexOf(QUOTE, from);
      const end = quote === -1 ? piece.length : quote;
      let backslash = end;
      while (backslash > from && piece[backslash - 1] === BACKSLASH) backslash--;
      const isEscaped = (end - backslash) % 2 === 1;
      if (quote !== -1 && isEscaped) {
        from = quote + 1;
        continue;
      }
      this.isInString = quote === -1;
      this.isEscaped = this.isInString && isEscaped;
      return this.isInString ? end : end + 1;
    }
  }
}
