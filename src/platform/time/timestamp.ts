/** The two clocks that a moment is read from. */
export interface TimestampClock {
  /** Unix milliseconds, by a clock that people and networks set. */
  now(): number;
  /** Milliseconds since whatever begin, by a clock that is never set. */
  monotonicMs(): number;
}

const SYSTEM: TimestampClock = { now: () => Date.now(), monotonicMs: () => performance.now() };

/** The present as a date that also knows how much has passed since, whatever becomes of the machine's clock. */
export class Timestamp extends Date {
  private readonly steadyMs: number;

  constructor(clock: TimestampClock = SYSTEM) {
    super(clock.now());
    this.steadyMs = clock.monotonicMs();
  }

  /**
   * Whole milliseconds from `earlier` to now. Of a date that is no moment, such as one from the database,
   * only what its clock showed is known.
   */
  msSince(earlier: Date): number {
    const isMoment = earlier instanceof Timestamp;
    return Math.round(
      isMoment ? this.steadyMs - earlier.steadyMs : this.getTime() - earlier.getTime(),
    );
  }
}

/** Whole milliseconds that have passed since then; see `Timestamp`. */
export function msSince(earlier: Date): number {
  return new Timestamp().msSince(earlier);
}
