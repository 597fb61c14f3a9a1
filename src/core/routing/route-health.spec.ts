import { describe, expect, it } from '@jest/globals';
import { type UpstreamFailure } from '../../vendors/upstream-error.js';
import { RouteHealth } from './route-health.js';
import {
  COOLDOWN_MS,
  key,
  sibling,
  error,
  failTimes,
} from '../../../test/support/failing-routes.js';

const unknown = { provider: 'azure', upstreamModel: 'gpt' };

describe(RouteHealth.name, () => {
  it('cools a route down after five failures in a row, for the configured time', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 4, 'server');
    expect(health.isCooling(key, 0)).toBe(false);
    failTimes(health, 1, 'server');
    expect(health.isCooling(key, COOLDOWN_MS - 1)).toBe(true);
    expect(health.isCooling(key, COOLDOWN_MS)).toBe(false);
  });

  it('identifies the call that probes a route', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    expect(health.isOnTrial(key, 0)).toBe(false);
    failTimes(health, 5, 'server');
    expect([health.isOnTrial(key, 1), health.isOnTrial(sibling, 1)]).toEqual([true, false]);
    expect([health.isCooling(key, COOLDOWN_MS), health.isOnTrial(key, COOLDOWN_MS)]).toEqual([
      false,
      true,
    ]);
    health.recordAnswer(key, 10, COOLDOWN_MS);
    expect(health.isOnTrial(key, COOLDOWN_MS + 1)).toBe(false);
    for (let count = 0; count < 5; count++) health.recordFailure(key, error('connect'), 1e6, 1e6);
    expect(health.isOnTrial(sibling, 1e6 + COOLDOWN_MS)).toBe(true);
  });

  it('counts a silence as a slow answer only if longer than usual', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    health.recordAnswer(key, 1_000, 0);
    health.recordSilence(key, 50, 0);
    expect(health.speedOf(key, 0)!.samples).toBe(1);
    health.recordSilence(key, 4_000, 5_000);
    health.recordSilence(key, 4_000, 5_000);
    expect(health.speedOf(key, 10_000)!.latencyMs!.p50).toBeGreaterThan(3_000);
    expect(health.sharedRoutes(10_000)).toMatchObject([{ state: 'healthy' }]);
  });

  it('restarts the count after an answer', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 4, 'server');
    health.recordAnswer(key, 10);
    health.recordCompletion(key);
    failTimes(health, 4, 'server');
    expect(health.isCooling(key, 0)).toBe(false);
  });

  it('cools down a route whose answers are always interrupted', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    for (let count = 0; count < 5; count++) {
      expect(health.isCooling(key, 0)).toBe(false);
      health.recordAnswer(key, 10);
      failTimes(health, 1, 'cut');
    }
    expect(health.isCooling(key, 1)).toBe(true);
  });

  it('reports a route as failing between its pauses, until it answers or is unused for long', () => {
    const failing = (health: RouteHealth, nowMs: number) =>
      health.failingRoutes(nowMs).map(({ upstreamModel }) => upstreamModel);
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 4, 'server');
    expect(failing(health, 1)).toEqual([]);
    failTimes(health, 1, 'server');
    expect(failing(health, 1)).toEqual(['gpt']);
    expect(failing(health, 5 * COOLDOWN_MS)).toEqual(['gpt']);
    expect(failing(health, COOLDOWN_MS + 300_000)).toEqual([]);
    health.recordAnswer(key, 10, COOLDOWN_MS);
    expect(failing(health, COOLDOWN_MS)).toEqual([]);
    failTimes(health, 5, 'connect', 2 * COOLDOWN_MS);
    expect(failing(health, 2 * COOLDOWN_MS)).toEqual([undefined]);
  });

  it('opens again at the first failure after the pause', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 5, 'server');
    failTimes(health, 1, 'server', COOLDOWN_MS + 1);
    expect(health.isCooling(key, 2 * COOLDOWN_MS)).toBe(true);
  });

  it('closes at the first answer after the pause', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 5, 'server');
    health.recordAttempt(key, COOLDOWN_MS + 1);
    health.recordAnswer(key, 10, COOLDOWN_MS + 2);
    expect(health.isCooling(key, COOLDOWN_MS + 2)).toBe(false);
    health.recordCompletion(key);
    failTimes(health, 4, 'server', COOLDOWN_MS + 2);
    expect(health.isCooling(key, COOLDOWN_MS + 2)).toBe(false);
  });

  it.each([
    ['caller', false],
    ['context_length', false],
    ['unsupported', true],
  ] as const)('after a probe that ends as %s, stays in cooldown: %s', (failure, coolsOn) => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 5, 'server');
    health.recordAttempt(key, COOLDOWN_MS + 1);
    health.recordFailure(key, error(failure), COOLDOWN_MS + 2, COOLDOWN_MS + 2);
    expect(health.isCooling(key, COOLDOWN_MS + 3)).toBe(coolsOn);
  });

  describe('failures of earlier calls', () => {
    /** Five calls that all began at 0 have failed by 1,000. */
    const paused = (): RouteHealth => {
      const health = new RouteHealth(COOLDOWN_MS);
      for (let count = 0; count < 5; count++) health.recordFailure(key, error('timeout'), 0, 1_000);
      return health;
    };
    const afterMs = 1_000 + COOLDOWN_MS + 1;

    it('from before the pause do not extend it', () => {
      const health = paused();
      health.recordFailure(key, error('timeout'), 999, 20_000);
      expect(health.isCooling(key, afterMs)).toBe(false);
    });

    it('from before the answer that ended the pause do not restart it', () => {
      const health = paused();
      health.recordAttempt(key, afterMs);
      health.recordAnswer(key, 100, afterMs + 100);
      health.recordFailure(key, error('timeout'), afterMs + 99, afterMs + 200);
      expect(health.isCooling(key, afterMs + 201)).toBe(false);
      // The end of that answer counts.
      health.recordFailure(key, error('cut'), afterMs + 100, afterMs + 300);
      expect(health.isCooling(key, afterMs + 301)).toBe(true);
    });

    it('from before the pause still apply a requested cooldown', () => {
      const health = paused();
      health.recordFailure(key, error('rate_limited', 5_000), 999, afterMs);
      expect(health.isCooling(key, afterMs + 4_999)).toBe(true);
      health.recordAnswer(key, 100, afterMs + 5_001);
      expect(health.isCooling(key, afterMs + 5_002)).toBe(false);
    });

    it('from before other answers count, because slow failures arrive last', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      for (let count = 0; count < 5; count++) {
        health.recordAnswer(key, 10, 500);
        health.recordFailure(key, error('timeout'), 0, 1_000);
      }
      expect(health.isCooling(key, 1_001)).toBe(true);
    });
  });

  it('lets one request a second probe a route after its pause', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 5, 'server');
    const afterMs = COOLDOWN_MS + 1;
    expect(health.isCooling(key, afterMs)).toBe(false);
    health.recordAttempt(key, afterMs);
    expect(health.isCooling(key, afterMs + 999)).toBe(true);
    expect(health.isCooling(key, afterMs + 1_000)).toBe(false);
  });

  it('does not ration calls to a healthy route', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    health.recordAttempt(key, 0);
    failTimes(health, 3, 'server');
    health.recordAttempt(key, 0);
    expect(health.isCooling(key, 0)).toBe(false);
  });

  it.each([
    [1_000, 1_000],
    [COOLDOWN_MS, COOLDOWN_MS],
    [10 * COOLDOWN_MS, COOLDOWN_MS],
    [0, 0],
  ])('honors a wait of %d ms at once, but never beyond the setting', (askedMs, waitMs) => {
    for (const failure of ['rate_limited', 'server'] as const) {
      const health = new RouteHealth(COOLDOWN_MS);
      health.recordFailure(key, error(failure, askedMs), 100, 100);
      expect(health.isCooling(key, 100 + waitMs)).toBe(false);
      if (waitMs > 0) expect(health.isCooling(key, 100 + waitMs - 1)).toBe(true);
    }
  });

  it('keeps a requested cooldown although an earlier call answers', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    health.recordFailure(key, error('rate_limited', 5_000), 0, 0);
    health.recordAnswer(key, 10);
    expect(health.isCooling(key, 4_999)).toBe(true);
  });

  it.each<[UpstreamFailure, boolean, boolean]>([
    // failure, cools the model, cools its siblings at the provider
    ['connect', true, true],
    ['reset', true, false],
    ['timeout', true, false],
    ['rate_limited', true, false],
    ['server', true, false],
    ['operator', true, false],
    ['unreadable', true, false],
    ['cut', true, false],
    ['caller', false, false],
    ['context_length', false, false],
  ])('counts %s against the right routes', (failure, coolsModel, coolsProvider) => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 5, failure);
    expect(health.isCooling(key, 1)).toBe(coolsModel);
    expect(health.isCooling(sibling, 1)).toBe(coolsProvider);
    expect(health.isCooling(unknown, 1)).toBe(false);
  });

  it('takes an answer of any model as proof that the provider is reachable', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    failTimes(health, 4, 'connect');
    health.recordAnswer(sibling, 10);
    failTimes(health, 1, 'connect');
    expect(health.isCooling(key, 1)).toBe(false);
  });

  it('ignores caller errors, however they are wrapped', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    health.recordFailure(key, error('caller', 5_000), 0, 0);
    expect(health.isCooling(key, 1)).toBe(false);
  });

  describe('median latency', () => {
    it('is unknown before the first answer', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      failTimes(health, 3, 'server');
      expect(health.speedOf(key)?.latencyMs?.p50).toBeUndefined();
    });

    it('uses the latest answers of one model', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      for (let count = 0; count < 32; count++) health.recordAnswer(key, 1_000, 0);
      health.recordAnswer(sibling, 5, 0);
      expect(health.speedOf(key, 0)?.latencyMs?.p50).toBeCloseTo(1_000, -2);
      for (let count = 0; count < 33; count++) health.recordAnswer(key, 10, 1);
      // At most a second old.
      expect(health.speedOf(key, 999)?.latencyMs?.p50).toBeCloseTo(1_000, -2);
      expect(health.speedOf(key, 1_000)?.latencyMs?.p50).toBeCloseTo(10, 0);
      expect(health.speedOf(sibling, 1_000)?.latencyMs?.p50).toBeCloseTo(5, 0);
    });

    it('is robust against one slow answer', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      for (const latencyMs of [9, 100, 8_000, 90, 95]) health.recordAnswer(key, latencyMs);
      expect(health.speedOf(key)?.latencyMs?.p50).toBeGreaterThan(92);
      expect(health.speedOf(key)?.latencyMs?.p50).toBeLessThan(98);
    });
  });

  it('reports a route’s speed, and forgets it when unused', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    expect(health.speedOf(key, 0)).toBeUndefined();
    for (let each = 1; each <= 100; each++) health.recordAnswer(key, 10 * each, 0);
    expect(health.speedOf(key, 0)).toEqual({
      latencyMs: { p50: 490, p75: 756, p90: 899, p99: 981 },
      tokensPerSecond: undefined,
      samples: 100,
    });
    health.recordSpeed(key, 300, 2_000, 200_000);
    const later = health.speedOf(key, 200_000);
    expect(later?.tokensPerSecond?.p50).toBeCloseTo(150, -1);
    expect(later?.samples).toBe(100);
    expect(health.speedOf(key, 599_000)?.samples).toBe(100);
    expect(health.speedOf(key, 900_000)).toBeUndefined();
    health.recordAnswer(key, 20, 900_000);
    expect(health.speedOf(key, 901_000)?.samples).toBe(1);
  });

  it('learns of a pause that began before this process', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    health.memories.learn(
      { type: 'open', name: 'openai/gpt', ageMs: 25_000, restMs: 5_000 },
      2_000,
    );
    expect(health.isCooling(key, 6_999)).toBe(true);
    expect(health.isCooling(key, 7_000)).toBe(false);
  });

  it('limits the routes in memory, whatever names callers invent', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    for (let count = 0; count < 25_000; count++) {
      health.recordFailure(
        { provider: 'openai', upstreamModel: `ft:${count}` },
        error('operator'),
        0,
      );
    }
    expect(health.memories.size).toBeLessThanOrEqual(10_000);
  });

  it('tracks the latency of whole answers separately', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    for (let count = 0; count < 3; count++) health.recordAnswer(key, 100, 0, true);
    for (let count = 0; count < 9; count++) health.recordAnswer(key, 5_000, 0, false);
    expect(health.speedOf(key, 0)?.latencyMs?.p50).toBeCloseTo(100, -1);
    expect(health.wholeLatencyMs(key, 0)).toBeCloseTo(5_000, -3);
    expect(health.wholeLatencyMs(sibling, 0)).toBeUndefined();
    expect(health.wholeLatencyMs(key, 600_001)).toBeUndefined();
  });

  it('requests a measurement of a route that was unused for a while', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    expect(health.isToBeMeasured(key, 0)).toBe(true);
    health.recordAttempt(key, 0);
    expect(health.isToBeMeasured(key, 9_999)).toBe(false);
    expect(health.isToBeMeasured(key, 10_000)).toBe(true);
    expect(health.isToBeMeasured(sibling, 1)).toBe(true);
  });

  it('uses the speed of fast answers, and ignores short ones', () => {
    const health = new RouteHealth(30_000);
    const key = { provider: 'a', upstreamModel: 'b' };
    expect(health.tokensPerSecond(key)).toBeUndefined();
    health.recordSpeed(key, 5, 10_000);
    health.recordSpeed(key, 5_000, 10);
    expect(health.tokensPerSecond(key)).toBeUndefined();
    for (const tokens of [100, 200, 300, 400]) health.recordSpeed(key, tokens, 1_000);
    expect(health.tokensPerSecond(key)).toBe(400);
    for (let count = 0; count < 32; count++) health.recordSpeed(key, 100, 2_000);
    expect(health.tokensPerSecond(key)).toBe(50);
  });
});
