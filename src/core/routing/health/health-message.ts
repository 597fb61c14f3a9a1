import {
  isPackedCounts,
  isPackedSketch,
  isWhole,
  type PackedCounts,
  type PackedSketch,
} from './speed-sketch.js';

const VERSION = 1;
/** Longer route names are rejected. */
const MAX_NAME = 600;
/** Longest accepted message, in items. */
const MAX_ITEMS = 2_000;
const MAX_TEXT = 65_536;
/** Upper bound of ages and cooldowns: an hour, while pauses last seconds. */
export const MAX_MS = 3_600_000;

/**
 * Reports the state of a route: `open` after a run of failures, `cooling` because the vendor asked
 * to wait, `well` after an answer. Ages and cooldowns are durations, because the clocks of
 * instances differ.
 */
export interface RouteNews {
  readonly type: 'open' | 'cooling' | 'well';
  readonly name: string;
  /** Time since the state changed. */
  readonly ageMs: number;
  /** Remaining cooldown; 0 when it is over. */
  readonly restMs: number;
}

/** An item that instances exchange about routes. */
export type HealthItem =
  | RouteNews
  /** Sent by an instance that is new or missed messages, to ask the others for what they know. */
  | { readonly type: 'hello' }
  /** The instance probes a route whose pause is ending; the others leave it alone. */
  | { readonly type: 'trying'; readonly name: string }
  /** What the instance measured since its last message. */
  | {
      readonly type: 'speeds';
      readonly name: string;
      readonly latencies: PackedCounts;
      readonly speeds: PackedCounts;
    }
  /** Everything the instance knows, in answer to `hello`. */
  | {
      readonly type: 'memory';
      readonly name: string;
      readonly latencies: PackedSketch;
      readonly speeds: PackedSketch;
    };

export interface HealthMessage {
  /** Sender's instance id. */
  readonly from: string;
  /** Increases with each message of the sender. */
  readonly number: number;
  readonly items: readonly HealthItem[];
}

/**
 * Encodes items as messages of limited length. Drops items that exceed the limit on their own.
 *
 * @param next returns the number of the next message
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
 * Parses a message. Returns undefined for anything else, including messages of a later version.
 * Skips unknown and malformed items, which a later version may send.
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
