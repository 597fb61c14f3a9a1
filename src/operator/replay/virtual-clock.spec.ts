import { describe, expect, it } from '@jest/globals';
import { Canceller } from '../../canonical/cancel-signal.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import { RouteHealth } from '../../core/routing/route-health.js';
import { VirtualClock } from './virtual-clock.js';

describe(VirtualClock.name, () => {
  it('fires timers in order of their time, not of their creation', async () => {
    const clock = new VirtualClock(1_000);
    const seen: [number, number][] = [];
    for (const ms of [50, 7, 300, 7, 120, 1, 99]) {
      clock.at(1_000 + ms, () => seen.push([ms, clock.now()]));
    }
    await clock.advanceTo(1_100);
    expect(seen).toEqual([1, 7, 7, 50, 99].map((ms) => [ms, 1_000 + ms]));
    expect(clock.now()).toBe(1_100);
    await clock.finish();
    expect(seen.slice(5)).toEqual([
      [120, 1_120],
      [300, 1_300],
    ]);
    expect(clock.monotonicMs()).toBe(1_300);
  });

  it('fires timers that are set by earlier ones', async () => {
    const clock = new VirtualClock(0);
    const signal = new Canceller();
    let ticks = 0;
    const work = (async () => {
      while (ticks < 5) {
        await clock.wait(signal, 10);
        ticks++;
      }
    })();
    await clock.advanceTo(25);
    expect(ticks).toBe(2);
    await clock.finish();
    await work;
    expect(clock.now()).toBe(50);
  });

  it('ends a cancelled wait at once', async () => {
    const clock = new VirtualClock(0);
    const signal = new Canceller();
    const waited = clock.wait(signal, 60_000);
    signal.abort();
    expect(await waited).toBe(false);
    expect(await clock.wait(signal, 1)).toBe(false);
  });

  it('drives the health of routes', async () => {
    const clock = new VirtualClock(1e12);
    const health = new RouteHealth(10_000, clock);
    const route = { provider: 'openai', upstreamModel: 'gpt' };
    const error = new UpstreamError({ failure: 'server', status: 503, message: 'no' });
    for (let failures = 0; failures < 5; failures++) {
      health.recordFailure(route, error, clock.monotonicMs());
    }
    expect(health.isCooling(route)).toBe(true);
    await clock.advanceTo(1e12 + 9_999);
    expect(health.isCooling(route)).toBe(true);
    await clock.advanceTo(1e12 + 10_000);
    expect(health.isCooling(route)).toBe(false);
  });
});
