import { scanJsonString } from '../chat/scan-json-string.js';

/** The beginning of the event that streams are made of, up to the text that it brings. */
const HEAD =
  /event: content_block_delta\ndata: \{"type": ?"content_block_delta", ?"index": ?\d{1,4}, ?"delta": ?\{"type": ?"(?:text_delta", ?"text|thinking_delta", ?"thinking|input_json_delta", ?"partial_json)": ?"/y;

const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CLOSE_BRACE = 0x7d;

/** Where an event ends, and the code points of the text that it brings. */
export interface MessagesDelta {
  /** Offset after the blank line. */
  end: number;
  characters: number;
}

/**
 * Recognises, without parsing them, the events that bring a piece of text, thought or arguments and
 * nothing else. What stands before and behind the piece is compared whole, so nothing that a model
 * says can be taken for a part of the event.
 */
export class MessagesDeltaFinder {
  /** What the events of one block have in common. */
  private head: string | undefined;

  /**
   * @param text whole server-sent events, decoded as Latin-1
   * @param start where an event begins
   * @returns undefined for an event that looks different in any way and has to be parsed
   */
  find(text: string, start: number): MessagesDelta | undefined {
    const valueStart = this.endOfHead(text, start);
    if (valueStart === -1) return undefined;
    const { end: quote, characters } = scanJsonString(text, valueStart);
    if (quote === -1) return undefined;
    const end = endOfEvent(text, quote + 1);
    return end === -1 ? undefined : { end, characters };
  }

  private endOfHead(text: string, start: number): number {
    if (this.head !== undefined && text.startsWith(this.head, start)) {
      return start + this.head.length;
    }
    HEAD.lastIndex = start;
    const head = HEAD.exec(text)?.[0];
    if (head === undefined) return -1;
    this.head = head;
    return start + head.length;
  }
}

/** Two closing braces and a blank line; the vendor pads events with spaces between them. */
function endOfEvent(text: string, start: number): number {
  let index = start;
  for (let braces = 0; braces < 2; index++) {
    const unit = text.charCodeAt(index);
    if (unit === CLOSE_BRACE) braces++;
    else if (unit !== SPACE) return -1;
  }
  while (text.charCodeAt(index) === SPACE) index++;
  const isBlankLine =
    text.charCodeAt(index) === LINE_FEED && text.charCodeAt(index + 1) === LINE_FEED;
  return isBlankLine ? index + 2 : -1;
}
