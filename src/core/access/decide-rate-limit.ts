import type { RateLimitDecision } from './rate-limiter.js';

export const WINDOW_MS = 60_000;

/**
 * The decision on the `count`th request of a key in the clock minute that `nowMs` (Unix
 * milliseconds) falls in. Pure.
 */
export function decideRateLimit(limit: number, count: number, nowMs: number): RateLimitDecision {
  const resetAtMs = (Math.floor(nowMs / WINDOW_MS) + 1) * WINDOW_MS;
  return {
    allowed: count <= limit,
    limit,
    remaining: Math.max(0, limit - count),
    resetAtSeconds: resetAtMs / 1000,
    retryAfterSeconds: Math.max(1, Math.ceil((resetAtMs - nowMs) / 1000)),
  };
}
