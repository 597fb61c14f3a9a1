import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { AppConfig } from '../../platform/config/app-config.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import type { ProbeCall } from '../../vendors/upstream.js';
import { ProviderHealthService } from './provider-health.service.js';

type Probe = (call: ProbeCall) => Promise<void>;

const refusal = new UpstreamError({ failure: 'connect', message: 'refused' });

function setUp(behaviour: Probe, cacheMs = 5_000) {
  const probe = jest.fn<Probe>(behaviour);
  const upstreams = { get: () => ({ probe }) } as unknown as UpstreamRegistry;
  const service = new ProviderHealthService({ healthCacheMs: cacheMs } as AppConfig, upstreams);
  return { probe, service };
}

describe(ProviderHealthService.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('sends three concurrent probes with a limit of two seconds', async () => {
    const { probe, service } = setUp(async () => undefined);
    const health = await service.check('a');
    expect(health).toMatchObject({ status: 'healthy', summary: { errorRate: 0 } });
    expect(health.checkedAt).toEqual(new Date());
    expect(probe).toHaveBeenCalledTimes(3);
    expect(probe.mock.calls[0]?.[0].limits).toEqual({
      firstByteMs: 2_000,
      idleMs: 2_000,
      requestMs: 2_000,
    });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('measures latency', async () => {
    const { service } = setUp(() => new Promise((resolve) => setTimeout(resolve, 700)));
    const checking = service.check('a');
    await jest.advanceTimersByTimeAsync(700);
    expect(await checking).toMatchObject({
      status: 'degraded',
      summary: { latencyP50: 700, latencyP99: 700, errorRate: 0 },
    });
  });

  it('aborts a hanging probe after two seconds', async () => {
    const { probe, service } = setUp(() => new Promise(() => undefined));
    const checking = service.check('a');
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await checking).toMatchObject({
      status: 'unhealthy',
      summary: { latencyP50: 2_000, errorRate: 1 },
    });
    expect(probe.mock.calls.every(([{ signal }]) => signal.aborted)).toBe(true);
  });

  it.each<[string, Probe]>([
    ['refuses', () => Promise.reject(refusal)],
    ['fails unexpectedly', () => Promise.reject(new TypeError('oops'))],
    [
      'throws synchronously',
      () => {
        throw new TypeError('oops');
      },
    ],
  ])('reports a provider that %s as unhealthy', async (_name, behaviour) => {
    const { service } = setUp(behaviour);
    expect(await service.check('a')).toMatchObject({
      status: 'unhealthy',
      summary: { errorRate: 1 },
    });
  });

  it('shares one check among concurrent callers, and caches its result', async () => {
    const { probe, service } = setUp(() => new Promise((resolve) => setTimeout(resolve, 10)));
    const checks = Promise.all([service.check('a'), service.check('a'), service.check('a')]);
    await jest.advanceTimersByTimeAsync(10);
    const [one, other] = await checks;
    expect(one).toBe(other);
    await jest.advanceTimersByTimeAsync(4_999);
    expect(await service.check('a')).toBe(one);
    expect(probe).toHaveBeenCalledTimes(3);

    await jest.advanceTimersByTimeAsync(1);
    const again = service.check('a');
    await jest.advanceTimersByTimeAsync(10);
    expect(await again).not.toBe(one);
    expect(probe).toHaveBeenCalledTimes(6);
  });

  it('checks providers independently', async () => {
    const { probe, service } = setUp(async () => undefined);
    await Promise.all([service.check('a'), service.check('b')]);
    expect(probe).toHaveBeenCalledTimes(6);
  });

  it('counts the probes of the last ten seconds only', async () => {
    const { probe, service } = setUp(async () => undefined, 0);
    probe
      .mockRejectedValueOnce(refusal)
      .mockRejectedValueOnce(refusal)
      .mockRejectedValueOnce(refusal);
    expect((await service.check('a')).summary.errorRate).toBe(1);
    await jest.advanceTimersByTimeAsync(5_000);
    expect((await service.check('a')).summary.errorRate).toBe(0.5);
    await jest.advanceTimersByTimeAsync(5_000);
    expect((await service.check('a')).summary.errorRate).toBe(0);
  });
});
