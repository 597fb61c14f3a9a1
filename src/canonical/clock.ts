import { waitUnless, type CancelSignal } from './cancel-signal.js';

/** What time it is, for whoever remembers or waits; a rehearsal has a clock of its own, which is faster. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds since whatever begin, which never go back. */
  monotonicMs(): number;
  /** Waits so long. @returns false, at once, when the signal fires before the end */
  wait(signal: CancelSignal, ms: number): Promise<boolean>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  wait: waitUnless,
};
