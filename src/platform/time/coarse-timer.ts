/** Something with a deadline that may move while it is watched. */
export interface Watched {
  /** On the clock of `performance.now()`. */
  deadlineMs: number;
  onDeadline(): void;
  /** The entry's index in the timer, managed by the timer; `NOT_WATCHED` before. */
  watchIndex: number;
}

export const NOT_WATCHED = -1;

const TICK_MS = 100;
/** A tick later than this was delayed by something that blocked the event loop. */
const LATE_MS = 400;

/**
 * Watches every deadline of the process with one interval. Moving a deadline is an assignment, where a timer of
 * its own would be re-armed for each chunk of each stream. Deadlines fire within a tick.
 *
 * Entries live in an array and know their index, since they come and go with every request. A `Set` reallocates its
 * table every few of those, and old tables in V8's old generation retain their entries and each other until
 * a full collection: every request would outlive the cheap ones.
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
    // The last entry moves into the gap.
    const last = this.watched.pop()!;
    if (last === entry) return;
    this.watched[index] = last;
    last.watchIndex = index;
  }

  /** Fires every deadline now. */
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
    // Answers may have arrived while the loop was blocked: they are processed first, once.
    this.hasSkipped = isLate && !this.hasSkipped;
    if (this.hasSkipped) return;
    for (const entry of this.watched.filter(({ deadlineMs }) => deadlineMs <= nowMs)) {
      // An earlier callback may have unwatched it.
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
