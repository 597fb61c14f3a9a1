/**
 * What an answer used, in the vendor's own counts. Totals include their parts, as OpenAI counts
 * them; adapters of vendors that count otherwise add up first.
 */
export interface Usage {
  /** All input tokens, those read from or written to a prompt cache included. */
  inputTokens: number;
  /** All output tokens, reasoning included. */
  outputTokens: number;
  /** Part of `inputTokens` that was read from the vendor's prompt cache. */
  cacheReadTokens: number;
  /** Part of `inputTokens` that was written to the vendor's prompt cache. */
  cacheWriteTokens: number;
  /** Part of `cacheWriteTokens` that is kept for an hour, which costs more. */
  cacheWriteLongTokens: number;
  /** Part of `outputTokens` spent on reasoning. */
  reasoningTokens: number;
  /** Vendor-run web searches, billed per call. */
  webSearches: number;
  /** Code points of text that was spoken. */
  inputCharacters: number;
  /** The same text in UTF-8 bytes; a route's prices say which of the two it bills. */
  inputBytes: number;
  /** Audio produced or transcribed, in whole milliseconds, so that sums stay exact. */
  audioMs: number;
  /** Pictures made. */
  imageCount: number;
  /** Video made, in whole seconds, as vendors bill it. */
  videoSeconds: number;
  /** The service tier by which the vendor says that it served; undefined: it does not say. */
  servedTier?: string;
  /** The region in which the vendor says that it served. */
  servedRegion?: string;
}

/** Whose figures a charge rests on: the vendor's, an estimate, or nobody's (cost 0). */
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
 * Output tokens a second of a route that nobody has measured yet. Hosted models of the day write 30 to
 * 150; the first complete answer puts the route's own figure in its place.
 */
export const UNMEASURED_SPEED = 100;

/** Whether the vendor's own figures are the ones that are charged, so that its words can be shown. */
export function isChargedAsGiven(given: Usage | undefined, charged: Usage): boolean {
  return (
    given !== undefined &&
    given.inputTokens === charged.inputTokens &&
    given.outputTokens === charged.outputTokens
  );
}
