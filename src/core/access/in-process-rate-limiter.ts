import { decideRateLimit, tighterOf, WINDOW_MS } from './decide-rate-limit.js';
import { RateLimiter, type CountedCaller, type RateLimitDecision } from './rate-limiter.js';

/**
 * Counts within this process: exact for one instance. Memory is bounded by the keys seen in one
 * minute, because all counts are dropped when the next one begins.
 */
export class InProcessRateLimiter extends RateLimiter {
  private window = 0;
  private counts = new Map<string, number>();

  take(caller: CountedCaller): RateLimitDecision {
    const nowMs = Date.now();
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts = new Map();
    }
    if (!caller.countsOn) return this.count(caller.apiKeyId, caller.rateLimitPerMinute, nowMs);
    let decision: RateLimitDecision | undefined;
    for (const { id, rateLimitPerMinute } of caller.countsOn) {
      decision = tighterOf(decision, this.count(id, rateLimitPerMinute, nowMs));
      if (!decision.allowed) break;
    }
    return decision!;
  }

  private count(keyId: string, limit: number, nowMs: number): RateLimitDecision {
    const count = (this.counts.get(keyId) ?? 0) + 1;
    this.counts.set(keyId, count);
    return decideRateLimit(limit, count, nowMs);
  }
}
