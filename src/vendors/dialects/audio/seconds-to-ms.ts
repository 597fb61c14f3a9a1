/** A week; no recording that fits into an upload is longer. */
const MAX_MS = 7 * 86_400_000;

/** Whole milliseconds, rounded up past what the decimal spelling of a binary fraction adds. */
export function secondsToMs(seconds: number): number {
  return Math.min(Math.ceil(Number((seconds * 1000).toFixed(3))), MAX_MS);
}
