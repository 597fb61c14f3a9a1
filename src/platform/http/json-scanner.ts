const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const LAST_SPACE = 0x20;

const NOWHERE = -1;

/** Finds the ends of strings in JSON that arrives whole or in pieces. Searches for closing quotes natively. */
export class StringEnd {
  /** True when the last piece ended inside a string. */
  isOpen = false;
  /** True when the last piece ended with a backslash inside a string. */
  private isEscaped = false;

  /**
   * @param start offset after the opening quote; 0 for a string that began in an earlier piece
   * @returns offset of the closing quote; the piece's length when the string continues in the next piece
   */
  find(piece: Buffer, start: number): number {
    let from = this.isEscaped ? start + 1 : start;
    for (;;) {
      const quote = piece.indexOf(QUOTE, from);
      const end = quote === NOWHERE ? piece.length : quote;
      let backslash = end;
      while (backslash > from && piece[backslash - 1] === BACKSLASH) backslash--;
      const isEscaped = (end - backslash) % 2 === 1;
      if (quote !== NOWHERE && isEscaped) {
        from = quote + 1;
        continue;
      }
      this.isOpen = quote === NOWHERE;
      this.isEscaped = this.isOpen && isEscaped;
      return end;
    }
  }
}

/** A member of the outermost object, as byte offsets. */
export interface TopLevelMember {
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  /** Offset after the value's last byte, without white space. */
  readonly valueEnd: number;
}

/** Offsets of a member's opening quote, its colon, and the comma or bracket after it. */
interface Place {
  readonly keyStart: number;
  readonly colon: number;
  readonly end: number;
}

/** V8 treats larger objects as hash tables from the start. */
const MAX_SHAPED_MEMBERS = 128;

/**
 * Returns the extra parts that a member counts as, by its position in its object. Once V8 has seen some fifteen hundred object
 * shapes, it copies the description of all previous members for each new name: 800 objects of 120 members
 * took six times as long to parse as the same members in small objects.
 *
 * @param place from 1
 */
export function furtherParts(place: number): number {
  return place < MAX_SHAPED_MEMBERS ? place >> 2 : 0;
}

/**
 * Scans the bytes of a JSON object once, whole or in pieces, without decoding, so that its size is known before
 * anything is built. Invalid JSON yields meaningless figures; the parser rejects it.
 */
export class JsonScanner {
  /**
   * Objects, arrays, members and strings in arrays at any depth: what a parser spends time and memory on one by one.
   * Numbers, `true`, `false` and `null` in arrays are cheap and not counted. Members after the third of an object
   * count for more: see `furtherParts`.
   */
  parts = 0;
  /** The nesting depth. */
  depth = 0;
  /** Commas at any depth. */
  commas = 0;
  /** Colons outside strings, which is one per member at any depth. */
  colons = 0;
  /** Open brackets; 0 before and after the object. */
  level = 0;
  /** Bytes of all pieces so far. */
  length = 0;

  private readonly places: Place[] = [];
  /** Members so far of each open level. */
  private readonly membersAt: number[] = [];
  private keyStart = NOWHERE;
  private colon = NOWHERE;
  /** A string here is a member's value, which its key has counted. */
  private isAfterColon = false;
  private readonly string = new StringEnd();

  /** @param maxParts the scan stops soon after it has counted more */
  add(piece: Buffer, maxParts = Infinity): this {
    if (piece.length === 0) return this;
    const { string, length, membersAt } = this;
    let { parts, depth, commas, colons, level, isAfterColon } = this;
    let index = string.isOpen ? string.find(piece, 0) + 1 : 0;
    for (; index < piece.length && parts <= maxParts; index++) {
      switch (piece[index]) {
        case QUOTE:
          if (!isAfterColon) {
            parts++;
            if (level === 1 && this.keyStart === NOWHERE) this.keyStart = length + index;
          }
          isAfterColon = false;
          index = string.find(piece, index + 1);
          break;
        case COLON:
          colons++;
          parts += furtherParts(++membersAt[level]!);
          isAfterColon = true;
          if (level === 1 && this.colon === NOWHERE) this.colon = length + index;
          break;
        case COMMA:
          commas++;
          isAfterColon = false;
          if (level === 1) this.closeMember(length + index);
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          parts++;
          isAfterColon = false;
          if (++level > depth) depth = level;
          membersAt[level] = 0;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          if (level === 1) this.closeMember(length + index);
          level--;
          break;
        default:
          break;
      }
    }
    Object.assign(this, { parts, depth, commas, colons, level, isAfterColon });
    this.length += piece.length;
    return this;
  }

  /**
   * Returns the members of the outermost object in order, repeated keys included.
   *
   * @param bytes all pieces joined
   */
  membersIn(bytes: Buffer): TopLevelMember[] {
    return this.places.map(({ keyStart, colon, end }) => ({
      key: readKey(bytes, keyStart, trimEnd(bytes, colon)),
      keyStart,
      valueStart: skipSpace(bytes, colon + 1),
      valueEnd: trimEnd(bytes, end),
    }));
  }

  private closeMember(end: number): void {
    const { keyStart, colon } = this;
    if (keyStart !== NOWHERE && colon !== NOWHERE) this.places.push({ keyStart, colon, end });
    this.keyStart = NOWHERE;
    this.colon = NOWHERE;
  }
}

/** Keys may contain escapes, which must not slip past an edit. */
function readKey(bytes: Buffer, start: number, end: number): string {
  for (let index = start + 1; index < end - 1; index++) {
    const byte = bytes[index]!;
    if (byte === BACKSLASH || byte >= 0x80) {
      return readEscapedKey(bytes.toString('utf8', start, end));
    }
  }
  return bytes.toString('latin1', start + 1, end - 1);
}

/** An unreadable key makes the text invalid JSON, which the parser rejects. */
function readEscapedKey(text: string): string {
  try {
    const key: unknown = JSON.parse(text);
    return typeof key === 'string' ? key : '';
  } catch {
    return '';
  }
}

function skipSpace(bytes: Buffer, start: number): number {
  let index = start;
  while (isSpace(bytes[index])) index++;
  return index;
}

function trimEnd(bytes: Buffer, end: number): number {
  let index = end;
  while (isSpace(bytes[index - 1])) index--;
  return index;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Searched natively: long lists of numbers have nothing else between them. 20 MB take 11 ms, and 50 character by character. */
const MARK_IN_TEXT = /["[\]{}]/g;

/**
 * Counts the `parts` and `depth` of `JsonScanner` in a text before it is parsed.
 *
 * @param maxParts the count stops when it exceeds this
 */
export function measureJson(text: string, maxParts = Infinity): { parts: number; depth: number } {
  /** Members so far of each open object. */
  const places: (number | undefined)[] = [];
  let parts = 0;
  let depth = 0;
  MARK_IN_TEXT.lastIndex = 0;
  while (parts <= maxParts && MARK_IN_TEXT.test(text)) {
    const at = MARK_IN_TEXT.lastIndex - 1;
    const mark = text.charCodeAt(at);
    if (mark === QUOTE) {
      if (!isMemberValue(text, at)) {
        const place = places.at(-1);
        parts++;
        if (place !== undefined) parts += furtherParts((places[places.length - 1] = place + 1));
      }
      MARK_IN_TEXT.lastIndex = endOfTextString(text, at);
    } else if (mark === OPEN_BRACKET || mark === OPEN_BRACE) {
      parts++;
      places.push(mark === OPEN_BRACE ? 0 : undefined);
      if (places.length > depth) depth = places.length;
    } else {
      places.pop();
    }
  }
  return { parts, depth };
}

/** Such a string was counted with its key. */
function isMemberValue(text: string, start: number): boolean {
  let before = start - 1;
  while (text.charCodeAt(before) <= LAST_SPACE) before--;
  return text.charCodeAt(before) === COLON;
}

/** Returns the offset after the closing quote of the string that opens at `start`. */
function endOfTextString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslash = quote;
    while (text.charCodeAt(backslash - 1) === BACKSLASH) backslash--;
    if ((quote - backslash) % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}
