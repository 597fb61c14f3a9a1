import { standsAt, scanJsonString } from '../event-text.js';

/** The beginning of the event that streams are made of, up to its number. */
const HEAD = /event: (response\.[a-z_.]{1,60}\.delta)\ndata: \{"type":"\1","sequence_number":/y;
/** From behind the number to the text that the event brings. */
const PLACE =
  /,"item_id":"[^"\\\n]{1,200}","output_index":\d{1,6}(?:,"(?:content|summary)_index":\d{1,6})?,"delta":"/y;
/** From behind the text to the event's end; what pads the event differs each time. */
const TAIL = /"(?:,"logprobs":\[\])?(?:,"obfuscation":"[A-Za-z0-9]{0,64}")?\}\n\n/y;

const ZERO = 0x30;
const NINE = 0x39;

/** Where an event ends, and the code points of the text that it brings. */
export interface ResponsesDelta {
  /** Offset after the blank line. */
  end: number;
  characters: number;
}

/**
 * Recognises, without parsing them or taking them apart, the events that bring a piece of text,
 * reasoning or arguments and nothing else. What stands around the piece is compared whole, so
 * nothing that a model says can be taken for a part of the event.
 */
export class ResponsesDeltaFinder {
  /** What the events of one part have in common, before and behind their number. */
  private head: string | undefined;
  private place: string | undefined;

  /**
   * @param text whole server-sent events, decoded as Latin-1
   * @param start where an event begins
   * @returns undefined for an event that looks different in any way
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
    if (this.head !== undefined && standsAt(text, this.head, start)) {
      return start + this.head.length;
    }
    HEAD.lastIndex = start;
    const head = HEAD.exec(text)?.[0];
    if (head === undefined) return -1;
    this.head = head;
    return start + head.length;
  }

  private endOfPlace(text: string, start: number): number {
    if (this.place !== undefined && standsAt(text, this.place, start)) {
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
    // Also at the text's end, where the unit is not a number.
    if (!(unit >= ZERO && unit <= NINE)) return index;
    index++;
  }
}
