import type { ServerResponse } from 'node:http';
import type { RateLimitDecision } from './rate-limiter.js';

/** Puts on an answer what every inference answer carries after the key check, errors included. */
export function setRateLimitHeaders(
  response: ServerResponse,
  { limit, remaining, resetAtSeconds }: RateLimitDecision,
): void {
  response.setHeader('X-RateLimit-Limit', String(limit));
  response.setHeader('X-RateLimit-Remaining', String(remaining));
  response.setHeader('X-RateLimit-Reset', String(resetAtSeconds));
}
