const SECOND_MS = 1_000;
/** A minute, and the second that has begun: so nothing is forgotten before its minute is over. */
const BUCKETS = 61;

/**
 * How much there was in the last minute, to the second. It forgets up to a second late, so that what fits here
 * fits into any minute of the vendor's, however that counts.
 */
export class MinuteWindow {
  private readonly buckets = new Float64Array(BUCKETS);
  /** The second of the newest bucket. */
  private newest = 0;
  private sum = 0;

  /** @param nowMs on a clock that never goes back; the same for all calls */
  total(nowMs: number): number {
    this.advance(nowMs);
    return this.sum;
  }

  /** Counts so much at a moment, or less of what was counted there; one that has been forgotten stays so. */
  add(amount: number, atMs: number, nowMs = atMs): void {
    this.advance(nowMs);
    const second = Math.floor(atMs / SECOND_MS);
    if (second <= this.newest - BUCKETS) return;
    this.buckets[second % BUCKETS]! += amount;
    this.sum += amount;
  }

  /** Milliseconds until so much fits under a limit; 0: it does. More than the limit fits when there is nothing else. */
  waitMs(amount: number, limit: number, nowMs: number): number {
    this.advance(nowMs);
    let excess = this.sum + Math.min(amount, limit) - limit;
    if (excess <= 0) return 0;
    for (let second = this.newest - BUCKETS + 1; second <= this.newest; second++) {
      excess -= this.buckets[((second % BUCKETS) + BUCKETS) % BUCKETS]!;
      if (excess <= 0) return (second + BUCKETS) * SECOND_MS - nowMs;
    }
    return BUCKETS * SECOND_MS;
  }

  private advance(nowMs: number): void {
    const second = Math.floor(nowMs / SECOND_MS);
    if (second <= this.newest) return;
    if (second - this.newest >= BUCKETS) {
      this.buckets.fill(0);
      this.sum = 0;
    } else {
      for (let next = this.newest + 1; next <= second; next++) {
        this.sum -= this.buckets[next % BUCKETS]!;
        this.buckets[next % BUCKETS] = 0;
      }
    }
    this.newest = second;
  }
}
