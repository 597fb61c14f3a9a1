import { waitUnless, type CancelSignal } from './cancel-signal.js';

/** Source of time for everything that remembers or waits. Traffic replay has its own, faster clock. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds since an arbitrary start; never decreases. */
  monotonicMs(): number;
  /** Waits `ms` milliseconds. @returns false, at once, when the signal fires first */
  wait(signal: CancelSignal, ms: number): Promise<boolean>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  wait: waitUnless,
};
