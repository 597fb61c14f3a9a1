import type { VirtualClock } from './virtual-clock.js';

/** How the time of a replay, in which requests may come faster than they did, goes with the time of the log. */
export class ReplayTime {
  /**
   * @param fromMs when both begin, in Unix milliseconds
   * @param speed how many times as fast requests come; vendors are no faster for it
   */
  constructor(
    readonly clock: VirtualClock,
    private readonly fromMs: number,
    readonly speed = 1,
  ) {}

  /** What time it was in the log. */
  logNow(): number {
    return this.fromMs + (this.clock.now() - this.fromMs) * this.speed;
  }

  /** When it is, of a moment in the log. */
  of(logMs: number): number {
    return this.fromMs + (logMs - this.fromMs) / this.speed;
  }
}
