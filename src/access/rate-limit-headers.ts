import type { RateLimitDecision } from './rate-limiter.js';

/** The headers that every inference answer carries after the key check, errors included. */
export function rateLimitHeaders(decision: RateLimitDecision): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(decision.limit),
    'X-RateLimit-Remaining': String(decision.remaining),
    'X-RateLimit-Reset': String(decision.resetAtSeconds),
  };
}
