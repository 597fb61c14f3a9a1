import { startsWithAt, scanJsonString } from '../event-text.js';

/** Matches the start of the most common event, up to its number. */
const HEAD = /event: (response\.[a-z_.]{1,60}\.delta)\ndata: \{"type":"\1","sequence_number":/y;
/** Matches the members between the number and the text. */
const PLACE =
  /,"item_id":"[^"\\\n]{1,200}","output_index":\d{1,6}(?:,"(?:content|summary)_index":\d{1,6})?,"delta":"/y;
/** Matches the rest of the event after the text; the padding differs each time. */
const TAIL = /"(?:,"logprobs":\[\])?(?:,"obfuscation":"[A-Za-z0-9]{0,64}")?\}\n\n/y;

const ZERO = 0x30;
const NINE = 0x39;

/** The end of an event, and the code points of its text. */
export interface ResponsesDelta {
  /** Offset after the blank line. */
  end: number;
  characters: number;
}

/**
 * Recognizes events with just a piece of text, reasoning or arguments without parsing or splitting them.
 * The bytes around the piece are compared as a whole, so text of the model cannot be mistaken for the
 * event.
 */
export class ResponsesDeltaFinder {
  /** Common bytes of one part's events, before and after their number. */
  private head: string | undefined;
  private place: string | undefined;

  /**
   * @param text whole server-sent events, decoded as Latin-1
   * @param start offset of an event
   * @returns undefined for an event that differs in any way
   */
  find(text: string, start: number): ResponsesDelta | undefined {
    const numberStart = this.endOfHead(text, start);
    if (numberStart === -1) return undefined;
    const textStart = this.endOfPlace(text, endOfDigits(text, numberStart));
    if (textStart === -1) return undefined;
    const { end: quote, characters } = scanJsonString(text, textStart);
    if (quote === -1) return undefined;
    TAIL.lastIndex = quote;
    return TAIL.test(text) ? { end: TAIL.lastIndex, characters } : undefined;
  }

  private endOfHead(text: string, start: number): number {
    if (this.head !== undefined && startsWithAt(text, this.head, start)) {
      return start + this.head.length;
    }
    HEAD.lastIndex = start;
    const head = HEAD.exec(text)?.[0];
    if (head === undefined) return -1;
    this.head = head;
    return start + head.length;
  }

  private endOfPlace(text: string, start: number): number {
    if (this.place !== undefined && startsWithAt(text, this.place, start)) {
      return start + this.place.length;
    }
    PLACE.lastIndex = start;
    const place = PLACE.exec(text)?.[0];
    if (place === undefined) return -1;
    this.place = place;
    return start + place.length;
  }
}

function endOfDigits(text: string, start: number): number {
  let index = start;
  for (;;) {
    const unit = text.charCodeAt(index);
    // Also at the end of the text, where the unit is NaN.
    if (!(unit >= ZERO && unit <= NINE)) return index;
    index++;
  }
}
