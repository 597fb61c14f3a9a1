import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RedisCacheStore } from '../../src/core/routing/cache/cache-stores.js';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

describeWithRedis(RedisCacheStore.name, () => {
  // A machine that stops for longer than a command may take makes Redis seem to hang; for a second
  // after that none is sent.
  jest.retryTimes(2, { waitBeforeRetry: 1_500 });
  let redis: TestRedis;
  let stores: RedisCacheStore[];
  const warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);

  beforeAll(async () => {
    redis = await startTestRedis();
    stores = [new RedisCacheStore(redis.url), new RedisCacheStore(redis.url)];
    for (const store of stores) await store.onModuleInit();
  });
  afterEach(() => {
    warnings.mockClear();
  });
  afterAll(async () => {
    stores.forEach((store) => store.onApplicationShutdown());
    await redis.stop();
  });

  it('gives every instance the bytes that one was given, at once', async () => {
    const value = Buffer.from([0, 255, 13, 10, 128, 0]);
    stores[0]!.set('bytes', value, 60);
    expect(await stores[0]!.get('bytes')).toEqual(value);
    expect(await stores[1]!.get('bytes')).toEqual(value);
    expect(await stores[1]!.get('other')).toBeUndefined();
    expect(warnings).not.toHaveBeenCalled();
  });

  it('forgets a value when its time is over', async () => {
    stores[0]!.set('short', Buffer.from('x'), 60);
    expect(await stores[0]!.get('short')).toBeDefined();
    const operator = new Redis(redis.url);
    const leftMs = await operator.pttl('gateway:cache:short');
    await operator.pexpire('gateway:cache:short', 1);
    await until(async () => (await operator.exists('gateway:cache:short')) === 0);
    operator.disconnect();
    expect(leftMs).toBeGreaterThan(1_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
    expect(await stores[1]!.get('short')).toBeUndefined();
  });

  it('gives back four megabytes', async () => {
    const value = Buffer.alloc(4_000_000, 'answer ');
    stores[0]!.set('large', value, 60);
    expect((await stores[0]!.get('large'))?.equals(value)).toBe(true);
  });

  it('has nothing while Redis is away, says so once, and returns to it', async () => {
    const ownRedis = await startTestRedis();
    const store = new RedisCacheStore(ownRedis.url);
    await store.onModuleInit();
    try {
      store.set('key', Buffer.from('x'), 60);
      expect(await store.get('key')).toBeDefined();
      await ownRedis.stop();
      for (let request = 0; request < 5; request++) {
        store.set('key', Buffer.from('x'), 60);
        expect(await store.get('key')).toBeUndefined();
      }
      expect(warnings).toHaveBeenCalledTimes(1);

      const restarted = await startTestRedis(Number(new URL(ownRedis.url).port));
      try {
        let found: Buffer | undefined;
        await until(async () => {
          store.set('key', Buffer.from('y'), 60);
          found = await store.get('key');
          return found !== undefined;
        });
        expect(found).toEqual(Buffer.from('y'));
      } finally {
        await restarted.stop();
      }
    } finally {
      store.onApplicationShutdown();
      await ownRedis.stop();
    }
  });

  it('waits a tenth of a second for a Redis that hangs, and then not at all for a while', async () => {
    const ownRedis = await startTestRedis();
    const store = new RedisCacheStore(ownRedis.url);
    await store.onModuleInit();
    const operator = new Redis(ownRedis.url);
    try {
      store.set('key', Buffer.from('x'), 60);
      expect(await store.get('key')).toBeDefined();
      await operator.call('CLIENT', 'PAUSE', '60000', 'ALL');
      const startedMs = performance.now();
      expect(await store.get('key')).toBeUndefined();
      const firstMs = performance.now() - startedMs;
      expect(firstMs).toBeGreaterThan(90);
      for (let request = 0; request < 100; request++) {
        expect(await store.get('key')).toBeUndefined();
      }
      // A tenth of a second for each would be ten seconds.
      expect(performance.now() - startedMs).toBeLessThan(5_000);
      expect(warnings).toHaveBeenCalledTimes(1);
    } finally {
      operator.disconnect();
      store.onApplicationShutdown();
      await ownRedis.stop();
    }
  });

  it('starts without Redis', async () => {
    const store = new RedisCacheStore('redis://127.0.0.1:1');
    await store.onModuleInit();
    store.set('key', Buffer.from('x'), 60);
    expect(await store.get('key')).toBeUndefined();
    expect(warnings).toHaveBeenCalledTimes(1);
    store.onApplicationShutdown();
  });
});
