import { UpstreamError, type UpstreamFailure } from '../../src/vendors/upstream-error.js';
import { RouteHealth } from '../../src/core/routing/route-health.js';

export const COOLDOWN_MS = 30_000;
export const key = { provider: 'openai', upstreamModel: 'gpt' };
export const sibling = { provider: 'openai', upstreamModel: 'mini' };

export function error(failure: UpstreamFailure, retryAfterMs?: number): UpstreamError {
  return new UpstreamError({
    failure,
    message: 'x',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

export function failTimes(
  health: RouteHealth,
  times: number,
  failure: UpstreamFailure,
  nowMs = 0,
): void {
  for (let count = 0; count < times; count++) {
    health.recordFailure(key, error(failure), nowMs, nowMs);
  }
}
