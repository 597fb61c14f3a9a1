import type { VirtualClock } from './virtual-clock.js';

/** Maps the time of a replay, in which requests can arrive faster, to the time of the log. */
export class ReplayTime {
  /**
   * @param fromMs start of both, in Unix milliseconds
   * @param speed factor by which requests arrive faster; vendors do not get faster
   */
  constructor(
    readonly clock: VirtualClock,
    private readonly fromMs: number,
    readonly speed = 1,
  ) {}

  /** Returns the current time in the log. */
  logNow(): number {
    return this.fromMs + (this.clock.now() - this.fromMs) * this.speed;
  }

  /** Converts a time in the log to a time in the replay. */
  of(logMs: number): number {
    return this.fromMs + (logMs - this.fromMs) / this.speed;
  }
}
