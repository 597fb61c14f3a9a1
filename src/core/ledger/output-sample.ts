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

/** Text, or of server-sent events what is not like the sample's first piece. */
type Piece = string | RelayedPiece;

interface RelayedPiece {
  /** So many bytes of the first piece come before, and so many of its last ones after … */
  readonly head: number;
  readonly tail: number;
  /** … as Latin-1, one character per byte. */
  readonly middle: string;
}

/**
 * A few windows on an answer's output, evenly spread over it: enough to tell how many tokens its
 * characters make. Most pieces cost a comparison. Those that are kept are copied, since a piece of a
 * buffer or a string would hold on to all of it; of relayed bytes, which are not read, only what they do not
 * share with the first: a vendor's events are alike but for a word of text in three hundred bytes, and a
 * stream keeps up to sixty of them.
 */
export class OutputSample {
  private windows: Piece[][] = [];
  /** The first piece that was relayed, as Latin-1. */
  private first: string | undefined;
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
      .map((pieces) => pieces.map((piece) => this.textOf(piece)).join(''))
      .map((text) => text.slice(0, MAX_WINDOW_TEXT))
      .filter((text) => text !== '');
  }

  private keep(piece: string | Buffer, index: number): void {
    const kept =
      typeof piece === 'string'
        ? copyOf(piece.slice(0, MAX_PIECE_CHARACTERS))
        : this.unlikeFirst(piece.subarray(0, MAX_PIECE_CHARACTERS));
    const place = index % this.stride;
    if (place === 0) this.windows.push([]);
    this.windows.at(-1)!.push(kept);
    this.characters += sizeOf(kept);
    this.nextKept = place + 1 < WINDOW_PIECES ? index + 1 : index - place + this.stride;
    if (this.windows.length > MAX_WINDOWS || this.characters > MAX_CHARACTERS) this.thinOut();
  }

  /** Lets every other window go, and looks half as often from here on. */
  private thinOut(): void {
    this.windows = this.windows.filter((_window, index) => index % 2 === 0);
    this.stride *= 2;
    this.nextKept = Math.ceil(this.seen / this.stride) * this.stride;
    this.characters = this.windows.flat().reduce((sum, piece) => sum + sizeOf(piece), 0);
  }

  private unlikeFirst(piece: Buffer): RelayedPiece {
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
