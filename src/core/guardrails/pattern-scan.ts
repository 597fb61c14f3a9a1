import type { Span } from './finder.js';
import type { TenantPattern } from './guardrail-rule.js';

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

/** Work that took too long, or more memory than there is for it, or that nobody waits for any more. */
export class ScanUnfinishedError extends Error {}

/** Work that was not taken in, since too much of the tenant waits. */
export class ScanQueueFullError extends ScanUnfinishedError {
  constructor() {
    super('too many searches wait');
  }
}

/** A search for what a guardrail forbids that is no longer there, or off. */
export class GuardrailGoneError extends Error {}
