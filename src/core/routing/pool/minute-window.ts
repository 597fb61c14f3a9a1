const SECOND_MS = 1_000;
/** One minute plus the current second, so that nothing is forgotten too early. */
const BUCKETS = 61;

/**
 * Sums the amounts of the last minute, per second. Forgets up to a second late, so that what fits
 * here fits into any minute as the vendor counts it.
 */
export class MinuteWindow {
  private readonly buckets = new Float64Array(BUCKETS);
  /** Second of the newest bucket. */
  private newest = 0;
  private sum = 0;

  /**
   * @param nowMs on a monotonic clock shared by all calls
   */
  total(nowMs: number): number {
    this.advance(nowMs);
    return this.sum;
  }

  /** Adds an amount at a time, or corrects it with a negative one. Ignores forgotten seconds. */
  add(amount: number, atMs: number, nowMs = atMs): void {
    this.advance(nowMs);
    const second = Math.floor(atMs / SECOND_MS);
    if (second <= this.newest - BUCKETS) return;
    this.buckets[second % BUCKETS]! += amount;
    this.sum += amount;
  }

  /**
   * Returns the ms until an amount fits under a limit; 0 means now. An amount above the limit fits
   * into an empty window.
   */
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
