/** Something with a deadline that may move while it is watched. */
export interface Watched {
  /** On the clock of `performance.now()`. */
  deadlineMs: number;
  onDeadline(): void;
  /** Where its timer keeps it, which is the timer's own matter; `NOT_WATCHED` before. */
  watchIndex: number;
}

export const NOT_WATCHED = -1;

const TICK_MS = 100;
/** A tick this much behind its time was kept waiting by something that blocked the process. */
const LATE_MS = 400;

/**
 * One interval that watches every deadline of the process. Moving a deadline is an assignment,
 * where a timer of its own would have to be re-armed for each chunk of each stream. Deadlines are
 * met within a tick.
 *
 * What is watched stands in an array, each at an index that it knows, since it comes and goes with
 * every request. A `Set` makes itself a new table every few of those, and the old ones, once they are
 * in V8's old generation, hold on to all that was in them, and to each other, until a full
 * collection: every request would outlive the cheap ones.
 */
export class CoarseTimer {
  private readonly watched: Watched[] = [];
  private interval: NodeJS.Timeout | undefined;
  private lastTickMs = 0;
  private hasSkipped = false;

  watch(entry: Watched): void {
    if (entry.watchIndex !== NOT_WATCHED) return;
    entry.watchIndex = this.watched.push(entry) - 1;
    if (this.interval) return;
    this.lastTickMs = performance.now();
    this.interval = setInterval(() => this.tick(), TICK_MS);
    this.interval.unref();
  }

  unwatch(entry: Watched): void {
    const index = entry.watchIndex;
    if (index === NOT_WATCHED) return;
    entry.watchIndex = NOT_WATCHED;
    // The last one takes its place.
    const last = this.watched.pop()!;
    if (last === entry) return;
    this.watched[index] = last;
    last.watchIndex = index;
  }

  /** Ends every deadline now. */
  expireAll(): void {
    for (const entry of [...this.watched]) {
      if (entry.watchIndex === NOT_WATCHED) continue;
      this.unwatch(entry);
      entry.onDeadline();
    }
  }

  private tick(): void {
    const nowMs = performance.now();
    const isLate = nowMs - this.lastTickMs > TICK_MS + LATE_MS;
    this.lastTickMs = nowMs;
    // Answers may have arrived meanwhile and not been read yet: they are first, once.
    this.hasSkipped = isLate && !this.hasSkipped;
    if (this.hasSkipped) return;
    for (const entry of this.watched.filter(({ deadlineMs }) => deadlineMs <= nowMs)) {
      // Another's end may have been its end as well.
      if (entry.watchIndex === NOT_WATCHED) continue;
      this.unwatch(entry);
      entry.onDeadline();
    }
    if (this.watched.length === 0) {
      clearInterval(this.interval);
      this.interval = undefined;
    }
  }
}
