import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { onFakeClock } from '../../../test/support/on-fake-clock.js';
import type { AppConfig } from '../config/app-config.js';
import { GatewayMetrics } from './gateway-metrics.js';

const limitedTo = (requestTimeoutMs: number): GatewayMetrics =>
  new GatewayMetrics({ limits: { requestTimeoutMs } as AppConfig['limits'] });

async function bucketsOf(metrics: GatewayMetrics): Promise<string[]> {
  metrics.observeRequest({
    endpoint: 'chat',
    provider: 'p',
    catalogueId: 'm',
    outcome: 'completed',
    inputTokens: 1,
    cachedTokens: 0,
    outputTokens: 1,
    cost: 1,
    shortfall: 0,
    latencyMs: 1,
    firstContentMs: 1,
  });
  const text = await metrics.registry.metrics();
  const bounds = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"`, 'gm'))].map(([, le]) => le!);
  expect(bounds('gateway_first_content_seconds')).toEqual(bounds('gateway_request_seconds'));
  return bounds('gateway_request_seconds');
}

describe(GatewayMetrics.name, () => {
  afterEach(() => void jest.useRealTimers());

  it.each([
    [600_000, ['120', '300', '600', '+Inf']],
    [900_000, ['300', '600', '900', '+Inf']],
    [7_200_000, ['600', '1800', '7200', '+Inf']],
    [70, ['0.05', '0.07', '+Inf']],
    [4, ['0.004', '+Inf']],
  ])('has buckets up to the limit of %j ms', async (limitMs, last) => {
    const buckets = await bucketsOf(limitedTo(limitMs));
    expect(buckets.slice(-last.length)).toEqual(last);
    expect(new Set(buckets).size).toBe(buckets.length);
  });

  it('reads tracked values at scrape time', async () => {
    const metrics = new GatewayMetrics();
    let total = 3;
    let isAway = true;
    metrics.trackTotal('a_total', 'h', () => total);
    metrics.trackEach('b', 'h', ['x'], () => [{ labels: { x: '1' }, value: total }]);
    metrics.trackRedis('cache', () => isAway);
    metrics.trackRedis('queue', () => false);
    const first = await metrics.registry.metrics();
    expect(first).toContain('# TYPE a_total counter\na_total 3\n');
    expect(first).toContain('b{x="1"} 3\n');
    expect(first).toContain('gateway_redis_degraded{use="cache"} 1\n');
    expect(first).toContain('gateway_redis_degraded{use="queue"} 0\n');
    total = 5;
    isAway = false;
    const second = await metrics.registry.metrics();
    expect(second).toContain('a_total 5\n');
    expect(second).toContain('b{x="1"} 5\n');
    expect(second).toContain('gateway_redis_degraded{use="cache"} 0\n');
  });

  it('omits values that fail or do not arrive in time', async () => {
    const metrics = new GatewayMetrics();
    const thrown = (): never => {
      throw new Error('away');
    };
    metrics.trackEach('thrown', 'h', ['x'], thrown);
    metrics.trackShared('rejected', 'h', ['x'], () => Promise.reject(new Error('away')));
    metrics.trackShared('silent', 'h', ['x'], () => new Promise(() => undefined));
    jest.useFakeTimers();
    const { result: text, passedMs } = await onFakeClock(() => metrics.registry.metrics());
    expect(passedMs).toBeLessThan(1_000);
    expect(text).toContain('# TYPE silent gauge\n');
    expect(text).not.toMatch(/^(thrown|rejected|silent)[ {]/m);
  });
});
