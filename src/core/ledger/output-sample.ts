import { isJsonObject } from '../../platform/http/json-body.js';

/** Pieces in a row that are kept together: fewer would cut words that went out in two. */
const WINDOW_PIECES = 4;
/** From one window to the next, at first. */
const FIRST_STRIDE = 8;
const MAX_WINDOWS = 16;
/** Of one piece; larger ones are cut. */
const MAX_PIECE_CHARACTERS = 8_192;
/** Of all that is kept of one answer. */
const MAX_CHARACTERS = 64 * 1024;
/** What is counted of one window. */
const MAX_WINDOW_TEXT = 2_000;

interface Piece {
  text: string;
  /** Server-sent events as Latin-1, one character per byte, rather than text. */
  isRelayed: boolean;
}

/**
 * A few windows on an answer's output, evenly spread over it: enough to tell how many tokens its
 * characters make. Most pieces cost a comparison; of those that are kept, relayed bytes are copied
 * unread, since a piece of a buffer would hold on to all of it.
 */
export class OutputSample {
  private windows: Piece[][] = [];
  private stride = FIRST_STRIDE;
  private seen = 0;
  private nextKept = 0;
  private characters = 0;

  /** The next piece: text, or relayed events. */
  add(piece: string | Buffer): void {
    const index = this.seen++;
    if (index >= this.nextKept) this.keep(piece, index);
  }

  /** What share of all pieces is kept. */
  get share(): number {
    return this.seen === 0 ? 1 : this.windows.flat().length / this.seen;
  }

  /** The texts of the windows, as far as they can be read. */
  texts(): string[] {
    return this.windows
      .map((pieces) => pieces.map(textOf).join('').slice(0, MAX_WINDOW_TEXT))
      .filter((text) => text !== '');
  }

  private keep(piece: string | Buffer, index: number): void {
    const isRelayed = typeof piece !== 'string';
    const text = isRelayed
      ? piece.toString('latin1', 0, MAX_PIECE_CHARACTERS)
      : piece.slice(0, MAX_PIECE_CHARACTERS);
    const place = index % this.stride;
    if (place === 0) this.windows.push([]);
    this.windows.at(-1)!.push({ text, isRelayed });
    this.characters += text.length;
    this.nextKept = place + 1 < WINDOW_PIECES ? index + 1 : index - place + this.stride;
    if (this.windows.length > MAX_WINDOWS || this.characters > MAX_CHARACTERS) this.thinOut();
  }

  /** Lets every other window go, and looks half as often from here on. */
  private thinOut(): void {
    this.windows = this.windows.filter((_window, index) => index % 2 === 0);
    this.stride *= 2;
    this.nextKept = Math.ceil(this.seen / this.stride) * this.stride;
    this.characters = this.windows.flat().reduce((sum, { text }) => sum + text.length, 0);
  }
}

function textOf({ text, isRelayed }: Piece): string {
  if (!isRelayed) return text;
  return Buffer.from(text, 'latin1')
    .toString('utf8')
    .split('\n')
    .map((line) => (line.startsWith('data: ') ? textOfEvent(line.slice('data: '.length)) : ''))
    .join('');
}

function textOfEvent(json: string): string {
  try {
    return textIn(JSON.parse(json), '');
  } catch {
    // A piece that was cut, or the vendor's own mark of the end.
    return '';
  }
}

/** What the dialects call what a model writes. */
const TEXT_KEYS: ReadonlySet<string> = new Set([
  'arguments',
  'content',
  'delta',
  'input',
  'partial_json',
  'reasoning',
  'reasoning_content',
  'refusal',
  'text',
  'thinking',
]);

function textIn(value: unknown, key: string): string {
  if (typeof value === 'string') return TEXT_KEYS.has(key) ? value : '';
  if (Array.isArray(value)) return value.map((item) => textIn(item, key)).join('');
  if (!isJsonObject(value)) return '';
  return Object.entries(value)
    .map(([name, member]) => textIn(member, name))
    .join('');
}
