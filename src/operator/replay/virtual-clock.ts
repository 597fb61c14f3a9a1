import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { Clock } from '../../canonical/clock.js';

interface Timer {
  readonly dueMs: number;
  /** Of two that are due at once, the one that was set first goes first. */
  readonly place: number;
  readonly fire: () => void;
}

/**
 * A clock that stands still until it is told to go on, and then goes from one thing that is waited for to the
 * next. Nothing else takes any of its time, so what it shows does not depend on how fast this machine is.
 */
export class VirtualClock implements Clock {
  /** A heap, the soonest at its top. */
  private readonly timers: Timer[] = [];
  private places = 0;

  /** @param nowMs Unix milliseconds */
  constructor(private nowMs: number) {}

  now(): number {
    return this.nowMs;
  }

  monotonicMs(): number {
    return this.nowMs;
  }

  /** Waits, whatever happens. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.nowMs + ms, resolve));
  }

  wait(signal: CancelSignal, ms: number): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const finish = (inFull: boolean): void => {
        signal.removeEventListener('abort', onAbort);
        resolve(inFull);
      };
      const onAbort = (): void => finish(false);
      signal.addEventListener('abort', onAbort);
      this.at(this.nowMs + ms, () => finish(true));
    });
  }

  /** Has something done when it is that late. */
  at(dueMs: number, fire: () => void): void {
    const timer = { dueMs: Math.max(dueMs, this.nowMs), place: this.places++, fire };
    const { timers } = this;
    let index = timers.push(timer) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (isBefore(timers[above]!, timer)) break;
      timers[index] = timers[above]!;
      index = above;
    }
    timers[index] = timer;
  }

  /** Goes on to a moment, and does all that is due by then, in order. */
  async advanceTo(endMs: number): Promise<void> {
    for (;;) {
      const next = this.timers[0];
      if (!next || next.dueMs > endMs) break;
      this.pop();
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.fire();
      // All that follows from it at once has been done when the queue of promises is empty, which is when ticks are
      // next: nothing here waits for anything else. A turn of the loop of events would take several times as long.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    this.nowMs = Math.max(this.nowMs, endMs);
  }

  /** Goes on until nothing is waited for. */
  async finish(): Promise<void> {
    for (;;) {
      const next = this.timers[0];
      if (!next) return;
      await this.advanceTo(next.dueMs);
    }
  }

  private pop(): void {
    const { timers } = this;
    const last = timers.pop()!;
    if (timers.length === 0) return;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      if (below >= timers.length) break;
      if (below + 1 < timers.length && isBefore(timers[below + 1]!, timers[below]!)) below++;
      if (isBefore(last, timers[below]!)) break;
      timers[index] = timers[below]!;
      index = below;
    }
    timers[index] = last;
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.place < other.place);
}
