import { isJsonObject } from '../../platform/http/json-body.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A JSON object whose text comes in pieces. Each character is looked at once, and all of it is parsed once. */
export class GrowingObject {
  private text = '';
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private state: 'growing' | 'whole' | 'never' = 'growing';

  /** Whether what has come is one object with nothing behind it. */
  get isWhole(): boolean {
    return this.state === 'whole';
  }

  push(piece: string): void {
    if (this.state === 'whole' && piece.trim() !== '') this.settle('never');
    if (this.state !== 'growing') return;
    this.text += piece;
    for (let at = 0; at < piece.length; at++) {
      if (!this.endsAt(piece.charCodeAt(at))) continue;
      const head = this.text.length - piece.length + at + 1;
      const isWhole = piece.slice(at + 1).trim() === '' && isObjectText(this.text.slice(0, head));
      this.settle(isWhole ? 'whole' : 'never');
      return;
    }
  }

  /** Takes the next character. @returns whether it closes the outermost bracket */
  private endsAt(character: number): boolean {
    if (this.isInString) {
      if (this.isEscaped) this.isEscaped = false;
      else if (character === BACKSLASH) this.isEscaped = true;
      else if (character === QUOTE) this.isInString = false;
      return false;
    }
    if (character === QUOTE) this.isInString = true;
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) this.depth++;
    else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) return --this.depth <= 0;
    return false;
  }

  private settle(state: 'whole' | 'never'): void {
    this.state = state;
    this.text = '';
  }
}

/** Whether the text is one whole JSON object. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
