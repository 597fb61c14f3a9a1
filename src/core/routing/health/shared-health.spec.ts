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

/** A request comes: it tries the route unless that is left alone. @returns whether it does */
function request({ health }: Instance): boolean {
  if (health.isCooling(KEY)) return false;
  health.recordAttempt(KEY);
  return true;
}

describe('health that instances share', () => {
  it('opens a breaker everywhere, and closes it everywhere', async () => {
    const [one, two, three] = [fleet.start(), fleet.start(), fleet.start()];
    fail(one.health);
    await pass(50);
    for (const { health } of fleet.instances) expect(health.isCooling(KEY)).toBe(true);
    await pass(COOLDOWN_MS + 1_000);
    two.health.recordAnswer(KEY, 10);
    await pass(50);
    for (const { health } of fleet.instances)
      expect(health.memories.newsOf(NAME).type).toBe('well');
    // Nobody is closer to a breaker than before.
    fail(three.health, 4);
    expect(three.health.isCooling(KEY)).toBe(false);
    expect(one.health.isCooling(KEY)).toBe(false);
  });

  it('lets all wait where a vendor asked one to, for what is left of it', async () => {
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

  it('lets all rest an account of a pool for as long as its vendor asked', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    const pooled = { ...KEY, account: 'eu', pooled: {} };
    one.health.rest(pooled, 60_000);
    await pass(50);
    expect(two.health.restMs(pooled)).toBeGreaterThan(59_900);
    expect(two.health.isCooling({ ...pooled, account: 'us' })).toBe(false);
    await pass(60_000);
    expect(two.health.isCooling(pooled)).toBe(false);
  });

  it("shares what tenants' own accounts meet, as theirs alone", async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    const own = { ...KEY, byok: { credential: { id: 'a' }, hasTenantAddress: true } };
    fail(one.health, 5, own);
    await pass(50);
    expect(two.health.isCooling(own)).toBe(true);
    expect(two.health.isCooling(KEY)).toBe(false);
  });

  it('believes what it has just seen itself more than failures of another', async () => {
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
    // A request to wait is the account's, whoever was asked.
    askToWait(fleet.start().health, 8_000);
    await pass(50);
    expect(two.health.isCooling(KEY)).toBe(true);
  });

  it('tells changes only, and of a route that fails all the time no more than a few', async () => {
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

  it('does not mind clocks that differ', async () => {
    const [one, two] = [fleet.start(), fleet.start(86_400_000)];
    askToWait(one.health, 5_000);
    await pass(50);
    expect(two.health.isCooling(KEY)).toBe(true);
    await pass(5_000);
    expect(two.health.isCooling(KEY)).toBe(false);
  });

  it('is quiet once it has ended', async () => {
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

  describe('when a pause ends', () => {
    it('lets one of all try', async () => {
      const instances = [fleet.start(), fleet.start(), fleet.start(), fleet.start()];
      fail(instances[0]!.health);
      let tried = 0;
      // Each is asked for the route every 10 ms.
      for (let elapsedMs = 0; elapsedMs < COOLDOWN_MS + 3_000; elapsedMs += 10) {
        await pass(10);
        for (const each of instances) if (request(each)) tried++;
      }
      // One a second, as one instance alone would.
      expect(tried).toBeGreaterThanOrEqual(3);
      expect(tried).toBeLessThanOrEqual(4);
    });

    it('lets another one try when the first is gone', async () => {
      const [one, two] = [fleet.start(), fleet.start()];
      fail(one.health);
      await pass(COOLDOWN_MS - 500);
      // Only the one was asked, so it has the turn; then it is killed.
      request(one);
      await pass(470);
      expect(fleet.bus.count('trying')).toBe(1);
      one.channel.isCut = true;
      one.shared.onApplicationShutdown();
      expect(request(two)).toBe(false);
      await pass(1_000);
      expect(request(two)).toBe(true);
    });

    it('leaves an instance that few ask to try at once', async () => {
      const [one, two] = [fleet.start(), fleet.start()];
      fail(one.health);
      await pass(COOLDOWN_MS + 30_000);
      expect(fleet.bus.count('trying')).toBe(0);
      expect(request(two)).toBe(true);
      await pass(5);
      expect(request(one)).toBe(false);
    });

    it('does not hold up an instance that hears nobody', async () => {
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
    it('are those of all instances', async () => {
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

    it('and pauses are told to an instance that starts, by one', async () => {
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

  it('goes on alone while the channel is away, and catches up when it is back', async () => {
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

  it('is told by the one that comes back, too', async () => {
    const [one, two] = [fleet.start(), fleet.start()];
    two.channel.isCut = true;
    fail(two.health);
    await pass(100);
    two.channel.mend();
    await pass(600);
    expect(one.health.isCooling(KEY)).toBe(true);
  });
});
