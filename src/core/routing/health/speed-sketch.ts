/** Buckets in each doubling: a figure that is read is within 2.2 % of one that was noted. */
const STEPS_PER_DOUBLING = 16;
/** From 1/16 to beyond 2^26: tokens a second of the slowest, and milliseconds of a day. */
const FIRST_BUCKET = -4 * STEPS_PER_DOUBLING;
const LAST_BUCKET = 27 * STEPS_PER_DOUBLING;
/** After one to two of these a figure is forgotten. */
const WINDOW_MS = 300_000;
/** What a message may claim of one bucket. */
const MAX_COUNT = 1_000_000;

/** Smallest figures that no more than so many of a hundred are above; whatever is counted, p99 is the largest. */
export interface Percentiles {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p99: number;
}

/** How many figures fell into each bucket, by the bucket's number. */
type Counts = Map<number, number>;

/** Counts as they travel: bucket, count, bucket, count and so on. */
export type PackedCounts = readonly number[];

/** All that a sketch holds: how long ago the window began, in ms, its counts, and those of the window before. */
export type PackedSketch = readonly [ageMs: number, current: PackedCounts, previous: PackedCounts];

const NOTHING: PackedCounts = [];

/**
 * The distribution of figures of the last 5 to 10 minutes, in buckets that each are some 4 % wide. Those of
 * several processes add up to what one process would have seen.
 */
export class SpeedSketch {
  private current: Counts = new Map();
  private previous: Counts = new Map();
  /** Figures of this process that others have not been told of. */
  private untold: Counts = new Map();
  private beganMs: number;

  /** @param nowMs here and below on the clock of `performance.now()` */
  constructor(nowMs: number) {
    this.beganMs = nowMs;
  }

  /** Notes a figure of this process. */
  add(value: number, nowMs: number): void {
    this.turn(nowMs);
    const bucket = bucketOf(value);
    increase(this.current, bucket, 1);
    increase(this.untold, bucket, 1);
  }

  /** Hands over what others have not been told of. */
  takeUntold(): PackedCounts {
    if (this.untold.size === 0) return NOTHING;
    const packed = pack(this.untold);
    this.untold = new Map();
    return packed;
  }

  /** Notes what another process has seen. @param counts as `isPackedCounts` found it */
  merge(counts: PackedCounts, nowMs: number): void {
    this.turn(nowMs);
    increaseAll(this.current, unpack(counts));
  }

  pack(nowMs: number): PackedSketch {
    this.turn(nowMs);
    return [Math.round(nowMs - this.beganMs), pack(this.current), pack(this.previous)];
  }

  /** Takes over what another process holds, if that is more. @param packed as `isPackedSketch` found it */
  adopt([ageMs, current, previous]: PackedSketch, nowMs: number): void {
    const other = new SpeedSketch(nowMs - ageMs);
    other.current = unpack(current);
    other.previous = unpack(previous);
    if (other.samples(nowMs) <= this.samples(nowMs)) return;
    this.beganMs = other.beganMs;
    this.current = other.current;
    this.previous = other.previous;
  }

  /** How many figures it holds. */
  samples(nowMs: number): number {
    this.turn(nowMs);
    return totalOf(this.current) + totalOf(this.previous);
  }

  /** Undefined while it holds nothing. */
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

/** To three digits. */
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

/** Whether what another process has sent can be merged. */
export function isPackedCounts(value: unknown): value is PackedCounts {
  if (!Array.isArray(value) || value.length % 2 !== 0) return false;
  if (value.length > 2 * (LAST_BUCKET - FIRST_BUCKET + 1)) return false;
  return value.every((number, at) =>
    at % 2 === 0 ? isWhole(number, FIRST_BUCKET, LAST_BUCKET) : isWhole(number, 1, MAX_COUNT),
  );
}

/** Whether what another process has sent can be adopted. */
export function isPackedSketch(value: unknown): value is PackedSketch {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [ageMs, current, previous] = value as unknown[];
  return isWhole(ageMs, 0, WINDOW_MS) && isPackedCounts(current) && isPackedCounts(previous);
}

/** Whether it is a whole number within bounds. */
export function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}
