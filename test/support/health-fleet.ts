import { jest } from '@jest/globals';
import { RouteHealth, type HealthKey } from '../../src/core/routing/route-health.js';
import { SharedHealth } from '../../src/core/routing/health/shared-health.service.js';
import { UpstreamError } from '../../src/vendors/upstream-error.js';
import { Bus, BusChannel } from './instance-bus.js';

export const COOLDOWN_MS = 10_000;
export const KEY: HealthKey = { provider: 'openai', upstreamModel: 'gpt' };
export const NAME = 'openai/gpt';

export interface Instance {
  health: RouteHealth;
  channel: BusChannel;
  shared: SharedHealth;
}

/** Instances that share route health, on a fake clock. */
export class HealthFleet {
  readonly bus = new Bus();
  readonly instances: Instance[] = [];

  /** @param aheadMs offset of its clock from the others' */
  start(aheadMs = 0): Instance {
    const health = new RouteHealth(COOLDOWN_MS, { monotonicMs: () => performance.now() + aheadMs });
    const channel = new BusChannel(this.bus);
    const shared = new SharedHealth(health, channel, (provider) => provider === 'openai');
    shared.onApplicationBootstrap();
    const instance = { health, channel, shared };
    this.instances.push(instance);
    return instance;
  }

  end(): void {
    for (const { shared } of this.instances) shared.onApplicationShutdown();
  }
}

export const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

export function fail(health: RouteHealth, times = 5, key = KEY): void {
  for (let count = 0; count < times; count++) {
    health.recordFailure(
      key,
      new UpstreamError({ failure: 'server', message: 'x' }),
      performance.now(),
    );
  }
}

export function askToWait(health: RouteHealth, retryAfterMs: number): void {
  const error = new UpstreamError({ failure: 'rate_limited', message: 'x', retryAfterMs });
  health.recordFailure(KEY, error, performance.now());
}
