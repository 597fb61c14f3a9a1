/** The two clocks that a timestamp reads. */
export interface TimestampClock {
  /** Unix milliseconds by the wall clock, which people and networks set. */
  now(): number;
  /** Milliseconds by a monotonic clock. */
  monotonicMs(): number;
}

const SYSTEM: TimestampClock = { now: () => Date.now(), monotonicMs: () => performance.now() };

/** The current time as a date that also measures elapsed time when the wall clock is set. */
export class Timestamp extends Date {
  private readonly steadyMs: number;

  constructor(clock: TimestampClock = SYSTEM) {
    super(clock.now());
    this.steadyMs = clock.monotonicMs();
  }

  /**
   * Returns the whole milliseconds from `earlier` to now. For a plain date, such as one from the database, it
   * uses the wall clock.
   */
  msSince(earlier: Date): number {
    const isMoment = earlier instanceof Timestamp;
    return Math.round(
      isMoment ? this.steadyMs - earlier.steadyMs : this.getTime() - earlier.getTime(),
    );
  }
}

/** Returns the whole milliseconds since then; see `Timestamp`. */
export function msSince(earlier: Date): number {
  return new Timestamp().msSince(earlier);
}
