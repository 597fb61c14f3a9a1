import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../test/support/catalogue-models.js';
import { UpstreamError, type UpstreamFailure } from '../../vendors/upstream-error.js';
import { RouteHealth } from './route-health.js';
import { describeRoutes } from './route-metrics.js';

const fast = modelRoute('p', { upstreamModel: 'fast' });
const rows = [
  chatModel('p/fast', [fast, modelRoute('q', { upstreamModel: 'fast' })]),
  chatModel('p/slow', [modelRoute('p', { upstreamModel: 'slow' })]),
  chatModel('p/tuned:*', [modelRoute('p', { upstreamModel: 'tuned:*' })]),
];

/** Returns the nonzero samples as `provider model state`. */
function statesOf(health: RouteHealth, nowMs = 0): string[] {
  return describeRoutes(health.sharedRoutes(nowMs), rows)
    .filter(({ value }) => value === 1)
    .map(({ labels: { provider, model, state } }) => `${provider} ${model} ${state}`);
}

function fail(
  health: RouteHealth,
  upstreamModel: string,
  failure: UpstreamFailure,
  times = 5,
  retryAfterMs?: number,
): void {
  for (let count = 0; count < times; count++) {
    const error = new UpstreamError({
      failure,
      message: 'x',
      ...(retryAfterMs && { retryAfterMs }),
    });
    health.recordFailure({ provider: 'p', upstreamModel }, error, 0, 0);
  }
}

describe(describeRoutes.name, () => {
  it('reports each called route in one of three states', () => {
    const health = new RouteHealth(1_000);
    expect(statesOf(health)).toEqual([]);
    health.recordAnswer({ provider: 'q', upstreamModel: 'fast' }, 1, 0);
    fail(health, 'slow', 'rate_limited', 1, 500);
    fail(health, 'fast', 'server');
    expect(statesOf(health)).toEqual(['p p/fast open', 'p p/slow cooling', 'q p/fast healthy']);
    expect(statesOf(health, 600)).toContain('p p/slow healthy');
    expect(statesOf(health, 1_000)).toContain('p p/fast healthy');
    const values = describeRoutes(health.sharedRoutes(0), rows);
    expect(values).toHaveLength(9);
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(3);
  });

  it('reports an unreachable provider together with its models', () => {
    const health = new RouteHealth(1_000);
    health.recordAnswer({ provider: 'p', upstreamModel: 'fast' }, 1, 0);
    fail(health, 'slow', 'connect');
    expect(statesOf(health)).toEqual(['p * open', 'p p/fast open']);
  });

  it('reports one series per model family, however many names callers invent', () => {
    const health = new RouteHealth(1_000);
    for (let index = 0; index < 50; index++) fail(health, `tuned:${index}`, 'server', 1);
    expect(statesOf(health)).toEqual(['p p/tuned:* healthy']);
    fail(health, 'tuned:7', 'server', 4);
    expect(statesOf(health)).toEqual(['p p/tuned:* open']);
    // Names without a catalogue row are ignored.
    fail(health, 'made-up', 'server');
    expect(statesOf(health)).toEqual(['p p/tuned:* open']);
  });

  it('omits BYOK accounts', () => {
    const health = new RouteHealth(1_000);
    const byok = { credential: { id: 'account' }, hasTenantAddress: true };
    const key = { provider: 'p', upstreamModel: 'fast', byok };
    const error = (failure: UpstreamFailure) => new UpstreamError({ failure, message: 'x' });
    for (let count = 0; count < 5; count++) {
      health.recordFailure(key, error('server'), 0, 0);
      health.recordFailure(key, error('connect'), 0, 0);
    }
    expect(statesOf(health)).toEqual([]);
  });
});
