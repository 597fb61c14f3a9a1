import { standsAt, scanJsonString } from '../event-text.js';

/** The beginning of the event that streams are made of, up to the text that it brings. */
const HEAD =
  /event: content_block_delta\ndata: \{"type": ?"content_block_delta", ?"index": ?(\d{1,4}), ?"delta": ?\{"type": ?"(?:text_delta", ?"(text)|thinking_delta", ?"(thinking)|input_json_delta", ?"(partial_json))": ?"/y;

const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CLOSE_BRACE = 0x7d;

/** What a piece is of. */
export type MessagesDeltaField = 'text' | 'thinking' | 'partial_json';

/** What the events of one block have in common. */
interface Head {
  spelling: string;
  index: number;
  field: MessagesDeltaField;
}

/** An event that brings a piece and nothing else. */
export interface MessagesDelta {
  /** The block's. */
  index: number;
  field: MessagesDeltaField;
  /** Offset of the piece, behind its opening quote. */
  valueStart: number;
  /** Offset of its closing quote. */
  valueEnd: number;
  /** Code points of the piece, where the text is Latin-1. */
  characters: number;
  /** Offset after the blank line. */
  end: number;
}

/**
 * Recognises, without parsing them, the events that bring a piece of text, thought or arguments and
 * nothing else. What stands before and behind the piece is compared whole, so nothing that a model
 * says can be taken for a part of the event.
 */
export class MessagesDeltaFinder {
  private head: Head | undefined;

  /**
   * @param text whole server-sent events, decoded; as Latin-1 where the characters are of interest
   * @param start where an event begins
   * @returns undefined for an event that looks different in any way and has to be parsed
   */
  find(text: string, start: number): MessagesDelta | undefined {
    const head = this.headAt(text, start);
    if (!head) return undefined;
    const valueStart = start + head.spelling.length;
    const { end: valueEnd, characters } = scanJsonString(text, valueStart);
    if (valueEnd === -1) return undefined;
    const end = endOfEvent(text, valueEnd + 1);
    if (end === -1) return undefined;
    return { index: head.index, field: head.field, valueStart, valueEnd, characters, end };
  }

  private headAt(text: string, start: number): Head | undefined {
    if (this.head && standsAt(text, this.head.spelling, start)) return this.head;
    HEAD.lastIndex = start;
    const found = HEAD.exec(text);
    if (!found) return undefined;
    const [spelling, index, ...fields] = found;
    const field = fields.find((name) => name !== undefined) as MessagesDeltaField;
    this.head = { spelling, index: Number(index), field };
    return this.head;
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
