/** One member of the outermost object, as offsets into the body's bytes. */
export interface TopLevelMember {
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  /** Offset after the value's last byte; white space behind it is not counted. */
  readonly valueEnd: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What a look over the bytes of a JSON object finds. */
export interface JsonScan {
  /** In order, repeated keys included. */
  readonly members: TopLevelMember[];
  /** How deep the object nests. */
  readonly depth: number;
  /**
   * Objects, arrays, members and strings in arrays, at any depth: what a parser spends time and
   * memory on one by one. Numbers, `true`, `false` and `null` in arrays are cheap and not counted. Members behind
   * the third of an object count for more: see `furtherParts`.
   */
  readonly parts: number;
  /** Between members and between elements, at any depth. */
  readonly commas: number;
  /** Members at any depth, those included that repeat another one's name. */
  readonly named: number;
}

/** An object of more members is a table to V8 from the first on. */
const MAX_SHAPED_MEMBERS = 128;

/**
 * What a member counts for beside itself, by its place in its object. Once V8 has seen some fifteen hundred shapes of objects, it
 * copies the description of all members before for each further one of a new name: 800 objects of 120 members took six
 * times as long to parse as as many members of their own each.
 *
 * @param place from 1
 */
export function furtherParts(place: number): number {
  return place < MAX_SHAPED_MEMBERS ? place >> 2 : 0;
}

/**
 * Finds the members of a JSON object without decoding it, so that single values of a large body
 * can be exchanged in place. Strings are skipped by searching for their closing quote, natively.
 *
 * @param bytes a JSON object; what is none gives meaningless offsets
 * @param maxParts the scan ends soon after it has counted more, and knows nothing of what follows
 */
export function scanTopLevelMembers(bytes: Buffer, maxParts = Infinity): JsonScan {
  const members: TopLevelMember[] = [];
  /** Members so far, of each object that is open. */
  const places: number[] = [];
  let level = 0;
  let deepest = 0;
  let parts = 0;
  let commas = 0;
  let named = 0;
  let key: string | undefined;
  let keyStart = 0;
  let valueStart = -1;

  const closeMember = (end: number): void => {
    if (key === undefined) return;
    members.push({ key, keyStart, valueStart, valueEnd: trimEnd(bytes, end) });
    key = undefined;
  };

  for (let index = 0; index < bytes.length && parts <= maxParts; index++) {
    switch (bytes[index]) {
      case QUOTE: {
        const end = endOfString(bytes, index);
        parts++;
        if (level === 1 && key === undefined) {
          key = readKey(bytes, index, end);
          keyStart = index;
          valueStart = -1;
        }
        index = end - 1;
        break;
      }
      case COLON: {
        named++;
        const start = skipSpace(bytes, index + 1);
        parts += furtherParts(++places[level]!);
        if (level === 1 && valueStart === -1) valueStart = start;
        // A string here has been counted by its key.
        index = bytes[start] === QUOTE ? endOfString(bytes, start) - 1 : start - 1;
        break;
      }
      case COMMA:
        commas++;
        if (level === 1) closeMember(index);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        parts++;
        level++;
        places[level] = 0;
        if (level > deepest) deepest = level;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (level === 1) closeMember(index);
        level--;
        break;
      default:
        break;
    }
  }
  return { members, depth: deepest, parts, commas, named };
}

/**
 * The object with some members exchanged, left out or added; all other bytes stay as they were.
 * Of a key that stands twice only the last stays, which is the one that parsers read.
 *
 * @param edits new value per key; `undefined` leaves the member out, a key not present is added
 */
export function spliceMembers(
  bytes: Buffer,
  members: readonly TopLevelMember[],
  edits: ReadonlyMap<string, string | Buffer | undefined>,
): Buffer {
  const exchanged = exchangeMembers(bytes, members, edits);
  if (exchanged) return exchanged;
  const last = new Map<string, TopLevelMember>();
  for (const member of members) last.set(member.key, member);

  const pieces: Buffer[] = [];
  const separate = (): void => {
    pieces.push(pieces.length === 0 ? OPENING : SEPARATOR);
  };
  for (const member of last.values()) {
    if (!edits.has(member.key)) {
      separate();
      pieces.push(bytes.subarray(member.keyStart, member.valueEnd));
      continue;
    }
    const value = edits.get(member.key);
    if (value === undefined) continue;
    separate();
    pieces.push(bytes.subarray(member.keyStart, member.valueStart), toBuffer(value));
  }
  for (const [key, value] of edits) {
    if (value === undefined || last.has(key)) continue;
    separate();
    pieces.push(Buffer.from(`${JSON.stringify(key)}:`), toBuffer(value));
  }
  if (pieces.length === 0) return Buffer.from('{}');
  pieces.push(CLOSING);
  return Buffer.concat(pieces);
}

/** More are not worth comparing each with each. */
const MAX_COMPARED_MEMBERS = 32;

/** The usual case in a few slices: each edited key stands exactly once, and keeps a value. */
function exchangeMembers(
  bytes: Buffer,
  members: readonly TopLevelMember[],
  edits: ReadonlyMap<string, string | Buffer | undefined>,
): Buffer | undefined {
  if (members.length > MAX_COMPARED_MEMBERS || repeatsKey(members)) return undefined;
  const pieces: Buffer[] = [];
  let copied = 0;
  let found = 0;
  for (const { key, valueStart, valueEnd } of members) {
    const value = edits.get(key);
    if (value === undefined) continue;
    found++;
    pieces.push(bytes.subarray(copied, valueStart), toBuffer(value));
    copied = valueEnd;
  }
  if (found !== edits.size) return undefined;
  pieces.push(bytes.subarray(copied));
  return Buffer.concat(pieces);
}

function repeatsKey(members: readonly TopLevelMember[]): boolean {
  for (let one = 1; one < members.length; one++) {
    for (let other = 0; other < one; other++) {
      if (members[one]!.key === members[other]!.key) return true;
    }
  }
  return false;
}

const OPENING = Buffer.from('{');
const SEPARATOR = Buffer.from(',');
const CLOSING = Buffer.from('}');

function toBuffer(value: string | Buffer): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : value;
}

/** Offset after the closing quote of the string that opens at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  let quote = bytes.indexOf(QUOTE, start + 1);
  while (quote !== -1) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = bytes.indexOf(QUOTE, quote + 1);
  }
  return bytes.length;
}

/** A key may be spelled with escapes, and must not slip past an edit that way. */
function readKey(bytes: Buffer, start: number, end: number): string {
  for (let index = start + 1; index < end - 1; index++) {
    const byte = bytes[index]!;
    if (byte === BACKSLASH || byte >= 0x80) {
      return readEscapedKey(bytes.toString('utf8', start, end));
    }
  }
  return bytes.toString('latin1', start + 1, end - 1);
}

/** What cannot be read makes the whole text no JSON, which its parser will say. */
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
