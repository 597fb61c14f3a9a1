import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../src/core/access/caller.js';
import type { RateLimitDecision } from '../../src/core/access/rate-limit-decisions.js';
import { RedisRateLimiter } from '../../src/core/access/rate-limiters.js';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { awaitRoomInThisMinute, inOneMinute } from '../support/room-in-minute.js';
import { withPatience } from '../support/patient-redis.js';
import { recordLogs } from '../support/recorded-logs.js';
import { until } from '../support/until.js';

describeWithRedis(RedisRateLimiter.name, () => {
  let redis: TestRedis;
  let limiters: RedisRateLimiter[];
  const warnings = recordLogs('warn', RedisRateLimiter.name);
  recordLogs('log', RedisRateLimiter.name);

  beforeAll(async () => {
    redis = await startTestRedis();
    limiters = [
      withPatience(new RedisRateLimiter(redis.url)),
      withPatience(new RedisRateLimiter(redis.url)),
    ];
    for (const limiter of limiters) await limiter.onModuleInit();
  });

  afterEach(() => {
    warnings.mockClear();
  });

  afterAll(async () => {
    limiters.forEach((limiter) => limiter.onApplicationShutdown());
    await redis.stop();
  });

  it('admits exactly the limit over all instances at once', async () => {
    const decisions = await inOneMinute(() => {
      const caller = callerWith(100);
      return Promise.all(
        Array.from({ length: 300 }, (_, index) => limiters[index % 2]!.take(caller)),
      );
    });
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100);
    const remaining = decisions.map((decision) => decision.remaining);
    expect(Math.min(...remaining)).toBe(0);
    expect(new Set(remaining.filter((left) => left > 0)).size).toBe(99);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('takes parts of several counters at once or none, exactly over all instances', async () => {
    await awaitRoomInThisMinute();
    const name = randomUUID();
    const parts = [
      { name: `${name}:tokens`, amount: 7, limit: 1_000 },
      { name: `${name}:requests`, amount: 1, limit: 100 },
    ];
    const takeAll = () =>
      Promise.all(Array.from({ length: 200 }, (_, index) => limiters[index % 2]!.takeParts(parts)));
    const first = await takeAll();
    const taken = first.filter(({ refused }) => !refused);
    expect(taken).toHaveLength(100);
    expect(first.find(({ refused }) => refused)).toMatchObject({
      refused: { index: 1, remaining: 0 },
    });
    // The refused ones have not used tokens: 300 are left.
    const { minute } = taken[0]!;
    await limiters[1]!.correct([{ name: parts[1]!.name, amount: -60 }], minute);
    const second = await takeAll();
    expect(second.filter(({ refused }) => !refused)).toHaveLength(42);
    expect(second.find(({ refused }) => refused)).toMatchObject({
      refused: { index: 0, remaining: 6 },
    });
    // Counts of an earlier minute are not returned to this one.
    const tokens = (amount: number) => [{ name: parts[0]!.name, amount }];
    await limiters[0]!.correct(tokens(-500), minute - 1);
    expect(await limiters[0]!.takeParts(parts)).toMatchObject({ refused: { index: 0 } });
    await limiters[0]!.correct(tokens(6), minute - 1);
    expect(await limiters[0]!.takeParts(parts)).toMatchObject({ refused: { remaining: 0 } });
    expect(warnings).not.toHaveBeenCalled();
  });

  it('names the end of the clock minute', async () => {
    const before = Math.ceil((Date.now() + 1) / 60_000) * 60;
    const decision = await limiters[0]!.take(callerWith(5));
    const after = Math.ceil((Date.now() + 1) / 60_000) * 60;
    expect([before, after]).toContain(decision.resetAtSeconds);
    expect(decision.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(decision.retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  it('counts per instance during an outage of Redis, logs it once, and recovers', async () => {
    const ownRedis = await startTestRedis();
    const limiter = withPatience(new RedisRateLimiter(ownRedis.url));
    await limiter.onModuleInit();
    try {
      await awaitRoomInThisMinute();
      const caller = callerWith(3);
      await limiter.take(caller);
      expect(limiter.isDegraded).toBe(false);
      await ownRedis.stop();

      const decisions: RateLimitDecision[] = [];
      for (let request = 0; request < 5; request++) decisions.push(await limiter.take(caller));
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
      expect(warnings).toHaveBeenCalledTimes(1);
      expect(limiter.isDegraded).toBe(true);

      const restarted = await startTestRedis(Number(new URL(ownRedis.url).port));
      try {
        const other = withPatience(new RedisRateLimiter(restarted.url));
        await other.onModuleInit();
        // Once it counts in Redis again, another instance sees its counts.
        await until(async () => {
          const shared = callerWith(10);
          await limiter.take(shared);
          return (await other.take(shared)).remaining === 8;
        });
        expect(limiter.isDegraded).toBe(false);
        other.onApplicationShutdown();
      } finally {
        await restarted.stop();
      }
    } finally {
      limiter.onApplicationShutdown();
      await ownRedis.stop();
    }
  });

  it('starts without Redis', async () => {
    const limiter = withPatience(new RedisRateLimiter('redis://127.0.0.1:1'));
    await limiter.onModuleInit();
    expect((await limiter.take(callerWith(1))).allowed).toBe(true);
    expect((await limiter.take(callerWith(1, 'other'))).allowed).toBe(true);
    expect(warnings).toHaveBeenCalledTimes(1);
    limiter.onApplicationShutdown();
  });
});

function callerWith(rateLimitPerMinute: number, apiKeyId: string = randomUUID()): Caller {
  const keyName = 'a key';
  return { tenantId: 'tenant', apiKeyId, keyType: 'routing', keyName, rateLimitPerMinute };
}
