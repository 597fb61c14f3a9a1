import type { Span } from './finder.js';
import type { TenantPattern } from './tenant-pattern.js';

export type PatternSource = Pick<TenantPattern, 'pattern' | 'flags'>;

/** Work for a thread: to look for patterns in texts. */
export interface SearchJob {
  kind: 'search';
  patterns: readonly PatternSource[];
  texts: readonly string[];
  /** Matches begin here at the earliest. */
  from: number;
  /** Whether the places of matches matter; telling only that there is one is faster. */
  wantsPlace: boolean;
}

/** Work for a thread: to compile patterns that nobody has tried yet. */
export interface MeasureJob {
  kind: 'measure';
  patterns: readonly PatternSource[];
}

/** Undefined for a pattern that does not match. */
export type FoundSpans = readonly (Span | undefined)[];

/** Undefined for a pattern that is invalid. */
export type MeasuredPatterns = readonly ({ size: number; compileMs: number } | undefined)[];

/** Work that took too long, or more memory than there is for it. */
export class ScanUnfinishedError extends Error {}
