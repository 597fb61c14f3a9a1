import type { Caller } from './caller.js';
import { decideRateLimit, WINDOW_MS } from './decide-rate-limit.js';
import { RateLimiter, type RateLimitDecision } from './rate-limiter.js';

/**
 * Counts within this process: exact for one instance. Memory is bounded by the keys seen in one
 * minute, because all counts are dropped when the next one begins.
 */
export class InProcessRateLimiter extends RateLimiter {
  private window = 0;
  private counts = new Map<string, number>();

  take(caller: Caller): RateLimitDecision {
    const nowMs = Date.now();
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts = new Map();
    }
    const count = (this.counts.get(caller.apiKeyId) ?? 0) + 1;
    this.counts.set(caller.apiKeyId, count);
    return decideRateLimit(caller.rateLimitPerMinute, count, nowMs);
  }
}
