import { isJsonObject } from '../../platform/http/json-body.js';

/** Consecutive pieces in a window; fewer would cut words that span pieces. */
const WINDOW_PIECES = 4;
/** Initial distance between windows, in pieces. */
const FIRST_STRIDE = 8;
const MAX_WINDOWS = 16;
/** Larger pieces are cut. */
const MAX_PIECE_CHARACTERS = 8_192;
/** Limit of everything kept of one answer. */
const MAX_CHARACTERS = 64 * 1024;
/** Characters counted of one window. */
const MAX_WINDOW_TEXT = 2_000;

/** Text, or the part of relayed server-sent events that differs from the first such piece. */
type Piece = string | RelayedPiece;

interface RelayedPiece {
  /** Number of bytes shared with the start and the end of the first piece. */
  readonly head: number;
  readonly tail: number;
  /** The rest, as Latin-1: one character per byte. */
  readonly middle: string;
}

/**
 * A few windows of an answer's output, evenly spread, to estimate how many tokens its characters make.
 * Most pieces cost one comparison. Kept pieces are copied, since a slice would retain its whole buffer
 * or string. Relayed events are not parsed; only their difference from the first one is kept, because a
 * vendor's events share all but a word in three hundred bytes, and a stream keeps up to sixty.
 */
export class OutputSample {
  private windows: Piece[][] = [];
  /** The first relayed piece, as Latin-1. */
  private first: string | undefined;
  private stride = FIRST_STRIDE;
  private seen = 0;
  private nextKept = 0;
  private characters = 0;

  /** Adds the next piece: text, or relayed events. */
  add(piece: string | Buffer): void {
    const index = this.seen++;
    if (index >= this.nextKept) this.keep(piece, index);
  }

  /** The share of pieces kept. */
  get share(): number {
    return this.seen === 0 ? 1 : this.windows.flat().length / this.seen;
  }

  /** Returns the texts of the windows, as far as they can be parsed. */
  texts(): string[] {
    return this.windows
      .map((pieces) => pieces.map((piece) => this.textOf(piece)).join(''))
      .map((text) => text.slice(0, MAX_WINDOW_TEXT))
      .filter((text) => text !== '');
  }

  private keep(piece: string | Buffer, index: number): void {
    const kept =
      typeof piece === 'string'
        ? copyOf(piece.slice(0, MAX_PIECE_CHARACTERS))
        : this.differenceFromFirst(piece.subarray(0, MAX_PIECE_CHARACTERS));
    const place = index % this.stride;
    if (place === 0) this.windows.push([]);
    this.windows.at(-1)!.push(kept);
    this.characters += sizeOf(kept);
    this.nextKept = place + 1 < WINDOW_PIECES ? index + 1 : index - place + this.stride;
    if (this.windows.length > MAX_WINDOWS || this.characters > MAX_CHARACTERS) this.thinOut();
  }

  /** Drops every other window and doubles the distance between windows. */
  private thinOut(): void {
    this.windows = this.windows.filter((_window, index) => index % 2 === 0);
    this.stride *= 2;
    this.nextKept = Math.ceil(this.seen / this.stride) * this.stride;
    this.characters = this.windows.flat().reduce((sum, piece) => sum + sizeOf(piece), 0);
  }

  private differenceFromFirst(piece: Buffer): RelayedPiece {
    const first = (this.first ??= piece.toString('latin1'));
    const most = Math.min(first.length, piece.length);
    let head = 0;
    while (head < most && piece[head] === first.charCodeAt(head)) head++;
    let tail = 0;
    while (
      tail < most - head &&
      piece[piece.length - 1 - tail] === first.charCodeAt(first.length - 1 - tail)
    ) {
      tail++;
    }
    return { head, tail, middle: piece.toString('latin1', head, piece.length - tail) };
  }

  private textOf(piece: Piece): string {
    if (typeof piece === 'string') return piece;
    const { head, tail, middle } = piece;
    const first = this.first!;
    return textOfEvents(first.slice(0, head) + middle + first.slice(first.length - tail));
  }
}

function sizeOf(piece: Piece): number {
  return typeof piece === 'string' ? piece.length : piece.middle.length;
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

/** @param latin1 whole server-sent events */
function textOfEvents(latin1: string): string {
  return Buffer.from(latin1, 'latin1')
    .toString('utf8')
    .split('\n')
    .map((line) => (line.startsWith('data: ') ? textOfEvent(line.slice('data: '.length)) : ''))
    .join('');
}

function textOfEvent(json: string): string {
  try {
    return textIn(JSON.parse(json), '');
  } catch {
    // A piece that was cut, or the vendor's end marker.
    return '';
  }
}

/** JSON keys of generated text in the dialects. */
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
