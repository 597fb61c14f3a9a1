import {
  isPackedCounts,
  isPackedSketch,
  isWhole,
  type PackedCounts,
  type PackedSketch,
} from './speed-sketch.js';

const VERSION = 1;
/** Longer names of routes are nobody else's business. */
const MAX_NAME = 600;
/** Of what a text holds; more is no message of ours. */
const MAX_ITEMS = 2_000;
const MAX_TEXT = 65_536;
/** Of ages and rests, an hour: pauses are seconds long. */
export const MAX_MS = 3_600_000;

/**
 * What became of a route: `open` after a run of failures, `cooling` because the vendor asked to wait, `well`
 * after an answer. Ages and rests are durations, as clocks differ.
 */
export interface RouteNews {
  readonly type: 'open' | 'cooling' | 'well';
  readonly name: string;
  /** How long ago it became so. */
  readonly ageMs: number;
  /** For how long it is still left alone; 0 when that is over. */
  readonly restMs: number;
}

/** What instances tell each other of routes. */
export type HealthItem =
  | RouteNews
  /** An instance that is new, or has missed something, asks the others for what they know. */
  | { readonly type: 'hello' }
  /** The instance tries a route whose pause is ending; others let it. */
  | { readonly type: 'trying'; readonly name: string }
  /** What it has seen since it told last. */
  | {
      readonly type: 'speeds';
      readonly name: string;
      readonly latencies: PackedCounts;
      readonly speeds: PackedCounts;
    }
  /** All that it knows, in answer to a hello. */
  | {
      readonly type: 'memory';
      readonly name: string;
      readonly latencies: PackedSketch;
      readonly speeds: PackedSketch;
    };

export interface HealthMessage {
  /** The instance that says it. */
  readonly from: string;
  /** Of its texts; they rise. */
  readonly number: number;
  readonly items: readonly HealthItem[];
}

/**
 * The texts that tell of the items, none longer than allowed; an item that does not fit into one by itself is
 * left out.
 *
 * @param next gives the number of the next text
 */
export function writeMessages(
  from: string,
  items: readonly HealthItem[],
  maxBytes: number,
  next: () => number,
): string[] {
  const texts: string[] = [];
  const room =
    maxBytes - JSON.stringify({ v: VERSION, from, n: Number.MAX_SAFE_INTEGER }).length - 16;
  let parts: string[] = [];
  let size = 0;
  const end = (): void => {
    if (parts.length === 0) return;
    texts.push(
      `{"v":${VERSION},"from":${JSON.stringify(from)},"n":${next()},"items":[${parts.join(',')}]}`,
    );
    parts = [];
    size = 0;
  };
  for (const item of items) {
    if ('name' in item && item.name.length > MAX_NAME) continue;
    const part = JSON.stringify(item);
    const bytes = Buffer.byteLength(part) + 1;
    if (bytes > room) continue;
    if (size + bytes > room || parts.length === MAX_ITEMS) end();
    parts.push(part);
    size += bytes;
  }
  end();
  return texts;
}

/**
 * Undefined for what is no message, or one of a later kind. Items that are unknown or malformed are left out:
 * another version may say more.
 */
export function readMessage(text: string): HealthMessage | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const message = parse(text);
  if (!isObject(message) || message.v !== VERSION) return undefined;
  const { from, n: number, items } = message;
  if (!isName(from) || !isWhole(number, 0, Number.MAX_SAFE_INTEGER)) return undefined;
  if (!Array.isArray(items) || items.length > MAX_ITEMS) return undefined;
  return { from, number, items: items.filter(isItem) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isItem(item: unknown): item is HealthItem {
  if (!isObject(item)) return false;
  const { type, name, ageMs, restMs, latencies, speeds } = item;
  if (type === 'hello') return true;
  if (!isName(name)) return false;
  switch (type) {
    case 'open':
    case 'cooling':
    case 'well':
      return isWhole(ageMs, 0, MAX_MS) && isWhole(restMs, 0, MAX_MS);
    case 'trying':
      return true;
    case 'speeds':
      return isPackedCounts(latencies) && isPackedCounts(speeds);
    case 'memory':
      return isPackedSketch(latencies) && isPackedSketch(speeds);
    default:
      return false;
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
