import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  HealthFleet,
  askToWait,
  COOLDOWN_MS,
  fail,
  KEY,
  NAME,
  pass,
  type Instance,
} from '../../../../test/support/health-fleet.js';
import { UpstreamError } from '../../../vendors/upstream-error.js';

let fleet: HealthFleet;

beforeEach(() => {
  jest.useFakeTimers();
  fleet = new HealthFleet();
});
afterEach(() => {
  fleet.end();
  jest.useRealTimers();
});

/**
 * Simulates a request, which tries the route unless it is paused.
 *
 * @returns whether it did
 */
function request({ health }: Instance): boolean {
  if (health.isCooling(KEY)) return false;
  health.recordAttempt(KEY);
  return true;
}

describe('SharedHealth', () => {
  it('opens and closes a breaker on all instances', async () => {
    const [one, two, three] = [fleet.start(), fleet.start(), fleet.start()];
    fail(one.health);
    await pass(50);
    for (const { health } of fleet.instances) expect(health.isCooling(KEY)).toBe(true);
    await pass(COOLDOWN_MS + 1_000);
    two.health.recordAnswer(KEY, 10);
    await pass(50);
    for (const { health } of fleet.instances)
      expect(health.memories.newsOf(NAME).type).toBe('well');
    // The failures do not count towards another breaker.
    fail(three.health, 4);
    expect(three.health.isCooling(KEY)).toBe(false);
    expect(one.health.isCooling(KEY)).toBe(false);
  });

  it('shares the rest of a cooldown that a vendor requested', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    askToWait(one.health, 4_000);
    await pass(100);
    expect(two.health.isCooling(KEY)).toBe(true);
    expect(two.health.sharedRoutes()[0]?.state).toBe('cooling');
    await pass(3_850);
    expect(two.health.isCooling(KEY)).toBe(true);
    await pass(200);
    expect(two.health.isCooling(KEY)).toBe(false);
  });

  it('shares the cooldown of a pooled account', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    const pooled = { ...KEY, account: 'eu', pooled: {} };
    one.health.rest(pooled, 60_000);
    await pass(50);
    expect(two.health.restMs(pooled)).toBeGreaterThan(59_900);
    expect(two.health.isCooling({ ...pooled, account: 'us' })).toBe(false);
    await pass(60_000);
    expect(two.health.isCooling(pooled)).toBe(false);
  });

  it('shares failures of a tenant’s own account for that account only', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    const own = { ...KEY, byok: { credential: { id: 'a' }, hasTenantAddress: true } };
    fail(one.health, 5, own);
    await pass(50);
    expect(two.health.isCooling(own)).toBe(true);
    expect(two.health.isCooling(KEY)).toBe(false);
  });

  it('trusts its own recent success over another instance’s failures', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    two.health.recordAnswer(KEY, 10);
    two.health.recordCompletion(KEY);
    await pass(500);
    fail(one.health);
    const offline = new UpstreamError({ failure: 'connect', message: 'x' });
    for (let count = 0; count < 5; count++) {
      one.health.recordFailure(KEY, offline, performance.now());
    }
    await pass(50);
    expect(one.health.isCooling(KEY)).toBe(true);
    expect(two.health.isCooling(KEY)).toBe(false);
    // A request to wait concerns the account, whichever instance received it.
    askToWait(fleet.start().health, 8_000);
    await pass(50);
    expect(two.health.isCooling(KEY)).toBe(true);
  });

  it('sends changes only, and few for a route that fails constantly', async () => {
    const one = fleet.start();
    await pass(50);
    const before = fleet.bus.texts.length;
    for (let count = 0; count < 100; count++) {
      request(one);
      one.health.recordAnswer(KEY, 10);
      one.health.recordCompletion(KEY);
    }
    await pass(1_000);
    expect(fleet.bus.texts.length).toBe(before);
    for (let count = 0; count < 1_000; count++) {
      askToWait(one.health, 5_000);
      await pass(1);
    }
    expect(fleet.bus.texts.length - before).toBeLessThanOrEqual(6);
  });

  it('tolerates different clocks', async () => {
    const [one, two] = [fleet.start(), fleet.start(86_400_000)];
    askToWait(one.health, 5_000);
    await pass(50);
    expect(two.health.isCooling(KEY)).toBe(true);
    await pass(5_000);
    expect(two.health.isCooling(KEY)).toBe(false);
  });

  it('sends nothing after shutdown', async () => {
    const one = fleet.start();
    await pass(1_000);
    one.shared.onApplicationShutdown();
    const { length } = fleet.bus.texts;
    fail(one.health);
    one.health.recordAnswer(KEY, 10);
    fleet.start();
    await pass(10_000);
    expect(fleet.bus.texts.slice(length).every((text) => text.includes('"hello"'))).toBe(true);
  });

  describe('at the end of a pause', () => {
    it('lets one instance probe', async () => {
      const instances = [fleet.start(), fleet.start(), fleet.start(), fleet.start()];
      fail(instances[0]!.health);
      let tried = 0;
      // Each instance gets a request every 10 ms.
      for (let elapsedMs = 0; elapsedMs < COOLDOWN_MS + 3_000; elapsedMs += 10) {
        await pass(10);
        for (const each of instances) if (request(each)) tried++;
      }
      // One probe a second, as with a single instance.
      expect(tried).toBeGreaterThanOrEqual(3);
      expect(tried).toBeLessThanOrEqual(4);
    });

    it('lets another instance probe when the first dies', async () => {
      const [one, two] = [fleet.start(), fleet.start()];
      fail(one.health);
      await pass(COOLDOWN_MS - 500);
      // Only this instance gets requests, so it claims the probe; then it dies.
      request(one);
      await pass(470);
      expect(fleet.bus.count('trying')).toBe(1);
      one.channel.isCut = true;
      one.shared.onApplicationShutdown();
      expect(request(two)).toBe(false);
      await pass(1_000);
      expect(request(two)).toBe(true);
    });

    it('lets an instance with few requests probe at once', async () => {
      const [one, two] = [fleet.start(), fleet.start()];
      fail(one.health);
      await pass(COOLDOWN_MS + 30_000);
      expect(fleet.bus.count('trying')).toBe(0);
      expect(request(two)).toBe(true);
      await pass(5);
      expect(request(one)).toBe(false);
    });

    it('does not delay an instance that is alone', async () => {
      const [one, two] = [fleet.start(), fleet.start()];
      fail(one.health);
      await pass(50);
      one.channel.isCut = true;
      two.channel.isCut = true;
      await pass(COOLDOWN_MS - 500);
      for (const each of [one, two]) expect(request(each)).toBe(false);
      await pass(600);
      for (const each of [one, two]) expect(request(each)).toBe(true);
    });
  });

  describe('speeds', () => {
    it('combine the figures of all instances', async () => {
      const [one, two] = [fleet.start(), fleet.start()];
      for (let count = 0; count < 60; count++) one.health.recordAnswer(KEY, 100);
      for (let count = 0; count < 40; count++) two.health.recordAnswer(KEY, 1_000);
      one.health.recordSpeed(KEY, 500, 1_000);
      await pass(6_000);
      for (const { health } of [one, two]) {
        const { latencyMs, tokensPerSecond, samples } = health.speedOf(KEY) ?? {};
        expect(samples).toBe(100);
        expect(latencyMs?.p50).toBeCloseTo(99, -1);
        expect(latencyMs?.p75).toBeCloseTo(1_000, -2);
        expect(tokensPerSecond?.p50).toBeCloseTo(500, -2);
      }
      const told = fleet.bus.count('speeds');
      await pass(60_000);
      expect(fleet.bus.count('speeds')).toBe(told);
    });

    it('are sent with pauses to a new instance, by one other', async () => {
      const [one, two] = [fleet.start(), fleet.start()];
      for (let count = 0; count < 60; count++) one.health.recordAnswer(KEY, 100);
      fail(two.health);
      await pass(6_000);
      const late = fleet.start();
      await pass(500);
      expect(late.health.isCooling(KEY)).toBe(true);
      expect(late.health.speedOf(KEY)?.samples).toBe(60);
      expect(one.health.speedOf(KEY)?.samples).toBe(60);
      await pass(COOLDOWN_MS - 6_500 + 20);
      expect(late.health.isCooling(KEY)).toBe(false);
    });
  });

  it('works alone during a channel outage and catches up afterwards', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    two.channel.isCut = true;
    fail(one.health);
    await pass(100);
    expect(one.health.isCooling(KEY)).toBe(true);
    expect(two.health.isCooling(KEY)).toBe(false);
    two.channel.mend();
    await pass(600);
    expect(two.health.isCooling(KEY)).toBe(true);
  });

  it('shares the observations of a reconnected instance', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    two.channel.isCut = true;
    fail(two.health);
    await pass(100);
    two.channel.mend();
    await pass(600);
    expect(one.health.isCooling(KEY)).toBe(true);
  });
});
