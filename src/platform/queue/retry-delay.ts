const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;
const MAX_RETRIES = 10;

/**
 * How long a wake-up waits whose consumer has thrown for the `failures`-th time in a row (from 1
 * on), in milliseconds; undefined when it is to be dropped.
 */
export function retryDelayMs(failures: number): number | undefined {
  if (failures > MAX_RETRIES) return undefined;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
}
