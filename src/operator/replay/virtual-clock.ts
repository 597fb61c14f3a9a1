import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { Clock } from '../../canonical/clock.js';

interface Timer {
  readonly dueMs: number;
  /** Orders timers that are due at the same time. */
  readonly place: number;
  readonly fire: () => void;
}

/**
 * A clock that only advances on request, from one timer to the next. No other work takes time on it, so
 * results do not depend on the speed of the machine.
 */
export class VirtualClock implements Clock {
  /** A binary heap, the earliest first. */
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

  /** Waits and cannot be cancelled. */
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

  /** Calls `fire` at a time. */
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

  /** Advances to a time and fires all timers due by then, in order. */
  async advanceTo(endMs: number): Promise<void> {
    for (;;) {
      const next = this.timers[0];
      if (!next || next.dueMs > endMs) break;
      this.pop();
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.fire();
      // All immediate consequences have run when the promise queue is empty, which is when `nextTick`
      // callbacks run. A turn of the event loop would take several times as long.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    this.nowMs = Math.max(this.nowMs, endMs);
  }

  /** Advances until no timers are left. */
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
