import type { Caller } from './caller.js';

/** Whether one more request of a key fits its current minute, and what to tell the caller. */
export interface RateLimitDecision {
  readonly allowed: boolean;
  /** Requests per minute. */
  readonly limit: number;
  /** Requests left in this minute, after this one. */
  readonly remaining: number;
  /** The minute's end in Unix seconds. */
  readonly resetAtSeconds: number;
  /** Whole seconds until the minute's end, at least 1. */
  readonly retryAfterSeconds: number;
}

/** Counts requests per key in fixed windows of one clock minute. */
export abstract class RateLimiter {
  /** Counts one request and decides on it. */
  abstract take(caller: Caller): RateLimitDecision | Promise<RateLimitDecision>;
}
