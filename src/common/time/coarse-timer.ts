/** Something with a deadline that may move while it is watched. */
export interface Watched {
  /** On the clock of `performance.now()`. */
  deadlineMs: number;
  onDeadline(): void;
}

const TICK_MS = 100;

/**
 * One interval that watches every deadline of the process. Moving a deadline is an assignment,
 * where a timer of its own would have to be re-armed for each chunk of each stream. Deadlines are
 * met within a tick.
 */
export class CoarseTimer {
  private readonly watched = new Set<Watched>();
  private interval: NodeJS.Timeout | undefined;

  watch(entry: Watched): void {
    this.watched.add(entry);
    if (this.interval) return;
    this.interval = setInterval(() => this.tick(), TICK_MS);
    this.interval.unref();
  }

  unwatch(entry: Watched): void {
    this.watched.delete(entry);
  }

  private tick(): void {
    const nowMs = performance.now();
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
