/** Something with a deadline that may move while it is watched. */
export interface Watched {
  /** On the clock of `performance.now()`. */
  deadlineMs: number;
  onDeadline(): void;
}

const TICK_MS = 100;
/** A tick this much behind its time was kept waiting by something that blocked the process. */
const LATE_MS = 400;

/**
 * One interval that watches every deadline of the process. Moving a deadline is an assignment,
 * where a timer of its own would have to be re-armed for each chunk of each stream. Deadlines are
 * met within a tick.
 */
export class CoarseTimer {
  private readonly watched = new Set<Watched>();
  private interval: NodeJS.Timeout | undefined;
  private lastTickMs = 0;
  private hasSkipped = false;

  watch(entry: Watched): void {
    this.watched.add(entry);
    if (this.interval) return;
    this.lastTickMs = performance.now();
    this.interval = setInterval(() => this.tick(), TICK_MS);
    this.interval.unref();
  }

  unwatch(entry: Watched): void {
    this.watched.delete(entry);
  }

  private tick(): void {
    const nowMs = performance.now();
    const isLate = nowMs - this.lastTickMs > TICK_MS + LATE_MS;
    this.lastTickMs = nowMs;
    // Answers may have arrived meanwhile and not been read yet: they are first, once.
    this.hasSkipped = isLate && !this.hasSkipped;
    if (this.hasSkipped) return;
    for (const entry of this.watched) {
      if (nowMs < entry.deadlineMs) continue;
      this.watched.delete(entry);
      entry.onDeadline();
    }
    if (this.watched.size === 0) {
      clearInterval(this.interval);
      this.interval = undefined;
    }
  }
}
