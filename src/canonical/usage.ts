/**
 * Usage of an answer, in the vendor's own counts. Totals include their parts, as OpenAI counts them;
 * adapters of other vendors add up first.
 */
export interface Usage {
  /** All input tokens, including prompt cache reads and writes. */
  inputTokens: number;
  /** All output tokens, including reasoning. */
  outputTokens: number;
  /** Part of `inputTokens` that was read from the vendor's prompt cache. */
  cacheReadTokens: number;
  /** Part of `inputTokens` that was written to the vendor's prompt cache. */
  cacheWriteTokens: number;
  /** Part of `cacheWriteTokens` cached for an hour, which costs more. */
  cacheWriteLongTokens: number;
  /** Part of `outputTokens` spent on reasoning. */
  reasoningTokens: number;
  /** Vendor-run web searches, billed per call. */
  webSearches: number;
  /** Code points of text to be spoken. */
  inputCharacters: number;
  /** The same text in UTF-8 bytes; the route's prices decide which of the two is billed. */
  inputBytes: number;
  /** Audio generated or transcribed, in whole milliseconds, so that sums stay exact. */
  audioMs: number;
  /** Images generated. */
  imageCount: number;
  /** Video generated, in whole seconds, as vendors bill it. */
  videoSeconds: number;
  /** The service tier that the vendor reports; undefined when it reports none. */
  servedTier?: string;
  /** The region that the vendor reports. */
  servedRegion?: string;
}

/** Source of the charged usage: the vendor, an estimate, or none (cost 0). */
export type UsageSource = 'upstream' | 'estimated' | 'none';

export const NO_USAGE: Readonly<Usage> = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteLongTokens: 0,
  reasoningTokens: 0,
  webSearches: 0,
  inputCharacters: 0,
  inputBytes: 0,
  audioMs: 0,
  imageCount: 0,
  videoSeconds: 0,
});

/**
 * Assumed output tokens per second of an unmeasured route. Hosted models currently write 30 to 150;
 * the first complete answer replaces this figure.
 */
export const UNMEASURED_SPEED = 100;

/** Returns whether the vendor's own figures are charged, so that its usage fields can be passed on. */
export function isChargedAsGiven(given: Usage | undefined, charged: Usage): boolean {
  return (
    given !== undefined &&
    given.inputTokens === charged.inputTokens &&
    given.outputTokens === charged.outputTokens
  );
}
