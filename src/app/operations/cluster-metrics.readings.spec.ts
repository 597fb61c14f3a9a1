import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Registry } from 'prom-client';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { ClusterMetrics } from './cluster-metrics.js';

describe(ClusterMetrics.name, () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('takes at most 20 readings a second and repeats the latest beyond that', async () => {
    const registry = new Registry();
    let made = 0;
    registry.metrics = () => Promise.resolve(`reading ${++made}`);
    const metrics = new ClusterMetrics({ registry } as unknown as GatewayMetrics);
    const texts = await Promise.all(Array.from({ length: 50 }, () => metrics.read()));
    expect(texts.slice(0, 20).map(({ text }) => text)).toEqual(
      Array.from({ length: 20 }, (_, index) => `reading ${index + 1}`),
    );
    expect(texts.slice(20).every(({ text }) => text === 'reading 20')).toBe(true);
    jest.advanceTimersByTime(999);
    expect(await metrics.read()).toMatchObject({ text: 'reading 20' });
    jest.advanceTimersByTime(1);
    expect(await metrics.read()).toMatchObject({
      text: 'reading 21',
      contentType: registry.contentType,
    });
  });

  it('retries in the next second after a failed reading', async () => {
    const registry = new Registry();
    const metrics = new ClusterMetrics({ registry } as unknown as GatewayMetrics);
    registry.metrics = () => Promise.reject(new Error('a worker is silent'));
    await expect(metrics.read()).rejects.toThrow('a worker is silent');
    jest.advanceTimersByTime(1_000);
    registry.metrics = () => Promise.resolve('a reading');
    expect(await metrics.read()).toMatchObject({ text: 'a reading' });
  });
});
