/** Buckets in each doubling: a figure that is read is within 2.2 % of one that was noted. */
const STEPS_PER_DOUBLING = 16;
/** From 1/16 to beyond 2^26: tokens a second of the slowest, and milliseconds of a day. */
const FIRST_BUCKET = -4 * STEPS_PER_DOUBLING;
const LAST_BUCKET = 27 * STEPS_PER_DOUBLING;
/** After one to two of these a figure is forgotten. */
const WINDOW_MS = 300_000;

/** Smallest figures that no more than so many of a hundred are above; whatever is counted, p99 is the largest. */
export interface Percentiles {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p99: number;
}

/** How many figures fell into each bucket, by the bucket's number. */
type Counts = Map<number, number>;

/**
 * The distribution of figures of the last 5 to 10 minutes, in buckets that each are some 4 % wide.
 */
export class SpeedSketch {
  private current: Counts = new Map();
  private previous: Counts | undefined;
  private beganMs: number;

  /** @param nowMs here and below on the clock of `performance.now()` */
  constructor(nowMs: number) {
    this.beganMs = nowMs;
  }

  /** Notes a figure of this process. */
  add(value: number, nowMs: number): void {
    this.turn(nowMs);
    increase(this.current, bucketOf(value), 1);
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
    for (const [bucket, count] of this.previous ?? []) increase(all, bucket, count);
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
    this.previous = ageMs < 2 * WINDOW_MS ? this.current : undefined;
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

function totalOf(counts: Counts | undefined): number {
  let total = 0;
  for (const count of counts?.values() ?? []) total += count;
  return total;
}
