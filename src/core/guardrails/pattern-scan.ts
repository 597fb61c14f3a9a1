import type { Span } from './finder.js';
import type { TenantPattern } from './guardrail-rule.js';

export type PatternSource = Pick<TenantPattern, 'pattern' | 'flags'>;

/** Thread task: search texts for patterns. */
export interface SearchJob {
  kind: 'search';
  patterns: readonly PatternSource[];
  texts: readonly string[];
  /** Earliest start of a match. */
  from: number;
  /** True when positions matter; without them a search is faster. */
  wantsPlace: boolean;
}

/** Thread task: compile untried patterns. */
export interface MeasureJob {
  kind: 'measure';
  patterns: readonly PatternSource[];
}

/** Undefined for a pattern without a match. */
export type FoundSpans = readonly (Span | undefined)[];

/** Undefined for an invalid pattern. */
export type MeasuredPatterns = readonly ({ size: number; compileMs: number } | undefined)[];

/** Thrown for a task that took too long or too much memory, or was cancelled. */
export class ScanUnfinishedError extends Error {}

/** Thrown when too many of the tenant's tasks are queued. */
export class ScanQueueFullError extends ScanUnfinishedError {
  constructor() {
    super('too many searches are queued');
  }
}

/** Thrown for a search whose guardrail was removed or disabled. */
export class GuardrailGoneError extends Error {}
