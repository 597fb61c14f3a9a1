import { startsWithAt, scanJsonString } from '../event-text.js';

/** Matches the start of the most common event, up to its text. */
const HEAD =
  /event: content_block_delta\ndata: \{"type": ?"content_block_delta", ?"index": ?(\d{1,4}), ?"delta": ?\{"type": ?"(?:text_delta", ?"(text)|thinking_delta", ?"(thinking)|input_json_delta", ?"(partial_json))": ?"/y;

const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CLOSE_BRACE = 0x7d;

/** The field that a piece belongs to. */
export type MessagesDeltaField = 'text' | 'thinking' | 'partial_json';

/** The common start of the events of one block. */
interface Head {
  spelling: string;
  index: number;
  field: MessagesDeltaField;
}

/** An event with a piece and nothing else. */
export interface MessagesDelta {
  /** Index of its block. */
  index: number;
  field: MessagesDeltaField;
  /** Offset of the piece, after its opening quote. */
  valueStart: number;
  /** Offset of its closing quote. */
  valueEnd: number;
  /** Code points of the piece, if the text is Latin-1. */
  characters: number;
  /** Offset after the blank line. */
  end: number;
}

/**
 * Recognizes events with just a piece of text, reasoning or arguments without parsing them. The bytes
 * around the piece are compared as a whole, so text of the model cannot be mistaken for the event.
 */
export class MessagesDeltaFinder {
  private head: Head | undefined;

  /**
   * @param text whole server-sent events, decoded; as Latin-1 if the character count matters
   * @param start offset of an event
   * @returns undefined for an event that differs in any way and needs parsing
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
    if (this.head && startsWithAt(text, this.head.spelling, start)) return this.head;
    HEAD.lastIndex = start;
    const found = HEAD.exec(text);
    if (!found) return undefined;
    const [spelling, index, isText, isThinking] = found;
    const field = isText ? 'text' : isThinking ? 'thinking' : 'partial_json';
    this.head = { spelling, index: Number(index), field };
    return this.head;
  }
}

/** Finds two closing braces and a blank line; the vendor pads events with spaces between them. */
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
