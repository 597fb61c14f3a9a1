/** Buckets per doubling: values read are within 2.2 % of those recorded. */
const STEPS_PER_DOUBLING = 16;
/** From 1/16 to above 2^26: tokens per second of the slowest model to milliseconds of a day. */
const FIRST_BUCKET = -4 * STEPS_PER_DOUBLING;
const LAST_BUCKET = 27 * STEPS_PER_DOUBLING;
/** Values are forgotten after one to two windows. */
const WINDOW_MS = 300_000;
/** Most that a message may claim for one bucket. */
const MAX_COUNT = 1_000_000;

/** Percentiles by nearest rank; with few values p99 is the largest. */
export interface Percentiles {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p99: number;
}

/** Number of values by bucket. */
type Counts = Map<number, number>;

/** Counts in a message: bucket, count, bucket, count and so on. */
export type PackedCounts = readonly number[];

/** A whole sketch: age of the window in ms, its counts, and those of the previous window. */
export type PackedSketch = readonly [ageMs: number, current: PackedCounts, previous: PackedCounts];

const NOTHING: PackedCounts = [];

/**
 * Sketches the distribution of values of the last 5 to 10 minutes, in buckets about 4 % wide.
 * Sketches of several processes add up to that of a single process.
 */
export class SpeedSketch {
  private current: Counts = new Map();
  private previous: Counts = new Map();
  /** Values of this process that have not been sent to others. */
  private unsent: Counts = new Map();
  private beganMs: number;

  /**
   * @param nowMs on the clock of `performance.now()`, here and below
   */
  constructor(nowMs: number) {
    this.beganMs = nowMs;
  }

  /** Records a value of this process. */
  add(value: number, nowMs: number): void {
    this.turn(nowMs);
    const bucket = bucketOf(value);
    increase(this.current, bucket, 1);
    increase(this.unsent, bucket, 1);
  }

  /** Returns and clears the unsent values. */
  takeUnsent(): PackedCounts {
    if (this.unsent.size === 0) return NOTHING;
    const packed = pack(this.unsent);
    this.unsent = new Map();
    return packed;
  }

  /**
   * Adds the values of another process.
   *
   * @param counts checked by `isPackedCounts`
   */
  merge(counts: PackedCounts, nowMs: number): void {
    this.turn(nowMs);
    increaseAll(this.current, unpack(counts));
  }

  pack(nowMs: number): PackedSketch {
    this.turn(nowMs);
    return [Math.round(nowMs - this.beganMs), pack(this.current), pack(this.previous)];
  }

  /**
   * Adopts the sketch of another process if it holds more values.
   *
   * @param packed checked by `isPackedSketch`
   */
  adopt([ageMs, current, previous]: PackedSketch, nowMs: number): void {
    const other = new SpeedSketch(nowMs - ageMs);
    other.current = unpack(current);
    other.previous = unpack(previous);
    if (other.samples(nowMs) <= this.samples(nowMs)) return;
    this.beganMs = other.beganMs;
    this.current = other.current;
    this.previous = other.previous;
  }

  /** Returns the number of values. */
  samples(nowMs: number): number {
    this.turn(nowMs);
    return totalOf(this.current) + totalOf(this.previous);
  }

  /** Returns undefined when empty. */
  percentiles(nowMs: number): Percentiles | undefined {
    const total = this.samples(nowMs);
    if (total === 0) return undefined;
    const all = new Map(this.current);
    increaseAll(all, this.previous);
    const sorted = [...all].sort(([one], [other]) => one - other);
    const at = (share: number): number => {
      let seen = 0;
      for (const [bucket, count] of sorted) {
        seen += count;
        if (seen >= share * total) return valueOf(bucket);
      }
      return 0;
    };
    return { p50: at(0.5), p75: at(0.75), p90: at(0.9), p99: at(0.99) };
  }

  private turn(nowMs: number): void {
    const ageMs = nowMs - this.beganMs;
    if (ageMs < WINDOW_MS) return;
    this.previous = ageMs < 2 * WINDOW_MS ? this.current : new Map<number, number>();
    this.current = new Map();
    this.beganMs = nowMs;
  }
}

function bucketOf(value: number): number {
  const bucket = Math.round(Math.log2(Math.max(value, 0)) * STEPS_PER_DOUBLING);
  return Math.min(Math.max(bucket, FIRST_BUCKET), LAST_BUCKET);
}

/** Rounds to three digits. */
function valueOf(bucket: number): number {
  return Number((2 ** (bucket / STEPS_PER_DOUBLING)).toPrecision(3));
}

function increase(counts: Counts, bucket: number, by: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + by);
}

function increaseAll(counts: Counts, by: Counts): void {
  for (const [bucket, count] of by) increase(counts, bucket, count);
}

function totalOf(counts: Counts): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

function pack(counts: Counts): PackedCounts {
  return [...counts].flat();
}

function unpack(packed: PackedCounts): Counts {
  const counts: Counts = new Map();
  for (let at = 0; at < packed.length; at += 2) increase(counts, packed[at]!, packed[at + 1]!);
  return counts;
}

/** Returns whether another process's counts can be merged. */
export function isPackedCounts(value: unknown): value is PackedCounts {
  if (!Array.isArray(value) || value.length % 2 !== 0) return false;
  if (value.length > 2 * (LAST_BUCKET - FIRST_BUCKET + 1)) return false;
  return value.every((number, at) =>
    at % 2 === 0 ? isWhole(number, FIRST_BUCKET, LAST_BUCKET) : isWhole(number, 1, MAX_COUNT),
  );
}

/** Returns whether another process's sketch can be adopted. */
export function isPackedSketch(value: unknown): value is PackedSketch {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [ageMs, current, previous] = value as unknown[];
  return isWhole(ageMs, 0, WINDOW_MS) && isPackedCounts(current) && isPackedCounts(previous);
}

/** Returns whether the value is an integer within bounds. */
export function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}
