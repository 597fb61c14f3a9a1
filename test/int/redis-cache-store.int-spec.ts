import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisCacheStore } from '../../src/core/routing/cache/redis-cache-store.js';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { withPatience } from '../support/patient-redis.js';
import { recordLogs } from '../support/recorded-logs.js';
import { until } from '../support/until.js';

const LIMITS = { maxBytes: 100_000_000, maxBytesPerTenant: 10_000_000 };
const SECRET = 'a-secret-for-tests-of-enough-length';
/** Bytes counted per entry besides its value. */
const OVERHEAD = 828;

describeWithRedis(RedisCacheStore.name, () => {
  let redis: TestRedis;
  let stores: RedisCacheStore[];
  const closing: (() => void)[] = [];
  const warnings = recordLogs('warn', RedisCacheStore.name);
  recordLogs('log', RedisCacheStore.name);

  beforeAll(async () => {
    redis = await startTestRedis();
    stores = [
      withPatience(new RedisCacheStore(redis.url, LIMITS, SECRET)),
      withPatience(new RedisCacheStore(redis.url, LIMITS, SECRET)),
    ];
    for (const store of stores) await store.onModuleInit();
  });
  afterEach(() => {
    closing.splice(0).forEach((close) => close());
    warnings.mockClear();
  });
  afterAll(async () => {
    stores.forEach((store) => store.onApplicationShutdown());
    await redis.stop();
  });

  it('returns the bytes that another instance stored, at once', async () => {
    const value = Buffer.from([0, 255, 13, 10, 128, 0]);
    stores[0]!.set('tenant', 'bytes', value, 60);
    expect(await stores[0]!.get('bytes')).toEqual(value);
    expect(await stores[1]!.get('bytes')).toEqual(value);
    expect(await stores[1]!.get('other')).toBeUndefined();
    expect(warnings).not.toHaveBeenCalled();
  });

  it('expires values', async () => {
    stores[0]!.set('tenant', 'short', Buffer.from('x'), 60);
    expect(await stores[0]!.get('short')).toBeDefined();
    const operator = new Redis(redis.url);
    closing.push(() => operator.disconnect());
    const leftMs = await operator.pttl('gateway:cache:short');
    await operator.pexpire('gateway:cache:short', 1);
    await until(async () => (await operator.exists('gateway:cache:short')) === 0);
    expect(leftMs).toBeGreaterThan(1_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
    expect(await stores[1]!.get('short')).toBeUndefined();
  });

  it('finds only values written with the secret under their own key', async () => {
    const operator = new Redis(redis.url);
    closing.push(() => operator.disconnect());
    const foreign = withPatience(
      new RedisCacheStore(redis.url, LIMITS, 'another-secret-of-enough-length-too'),
    );
    const rotated = withPatience(
      new RedisCacheStore(redis.url, LIMITS, () => ['a-new-secret', SECRET]),
    );
    for (const store of [foreign, rotated]) {
      await store.onModuleInit();
      closing.push(() => store.onApplicationShutdown());
    }
    stores[0]!.set('tenant', 'mine', Buffer.from('of one tenant'), 60);
    await until(async () => (await stores[0]!.get('mine')) !== undefined);
    const stored = await operator.getBuffer('gateway:cache:mine');
    expect(stored?.includes('of one tenant')).toBe(false);
    await operator.set('gateway:cache:moved', stored!);
    await operator.set('gateway:cache:plain', '{"route":{},"events":[]}');
    await operator.set('gateway:cache:endless', Buffer.alloc(100_000_000));
    await operator.set('gateway:cache:cut', stored!.subarray(0, -1));
    for (const key of ['moved', 'plain', 'endless', 'cut']) {
      expect([key, await stores[1]!.get(key)]).toEqual([key, undefined]);
    }
    expect(await foreign.get('mine')).toBeUndefined();
    expect(String(await rotated.get('mine'))).toBe('of one tenant');
    expect(warnings).not.toHaveBeenCalled();
  });

  it('returns four megabytes', async () => {
    const value = Buffer.alloc(4_000_000, 'answer ');
    stores[0]!.set('tenant', 'large', value, 60);
    expect((await stores[0]!.get('large'))?.equals(value)).toBe(true);
  });

  describe('limits', () => {
    const limits = { maxBytes: 400_000, maxBytesPerTenant: 200_000 };
    const value = Buffer.alloc(20_000 - OVERHEAD, 'answer ');
    let two: RedisCacheStore[];
    let operator: Redis;

    beforeEach(async () => {
      operator = new Redis(redis.url);
      await operator.flushall();
      two = [
        withPatience(new RedisCacheStore(redis.url, limits, SECRET)),
        withPatience(new RedisCacheStore(redis.url, limits, SECRET)),
      ];
      for (const store of two) await store.onModuleInit();
    });
    afterEach(() => {
      two.forEach((store) => store.onApplicationShutdown());
      operator.disconnect();
    });

    /** Resolves when all earlier writes have arrived. */
    const settled = () => Promise.all(two.map((store) => store.bytesInUse()));
    const areStored = (names: readonly string[]) =>
      Promise.all(names.map(async (name) => (await two[0]!.get(name)) !== undefined));
    const setAll = async (tenantId: string, names: readonly string[], ttlSeconds = 60) => {
      names.forEach((name, at) => two[at % 2]!.set(tenantId, name, value, ttlSeconds));
      await settled();
    };
    const named = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${prefix}${at}`);
    /** Bytes that Redis holds, values and overhead. */
    const bytesInRedis = async () => {
      const keys = await operator.keys('gateway:cache:*');
      const lengths = await Promise.all(keys.map((key) => operator.strlen(key)));
      return lengths.reduce((sum, length) => sum + length + 800, 0);
    };

    it('apply per tenant over all instances: the oldest entries go', async () => {
      await setAll('other', ['theirs']);
      await setAll('tenant', named('a', 30));
      expect(await bytesInRedis()).toBe(200_000 + 20_000);
      expect(await two[1]!.bytesInUse()).toBe(220_000);
      expect(await areStored(['theirs'])).toEqual([true]);
      const own = await areStored(named('a', 30));
      expect(own.filter(Boolean)).toHaveLength(10);
      // Redis interleaves the instances, but keeps the order of each.
      for (const instance of [0, 1]) {
        const stored = own.filter((_, at) => at % 2 === instance);
        expect(stored).toEqual(stored.toSorted((one, other) => Number(one) - Number(other)));
      }
    });

    it('apply to all tenants together: the oldest entries go', async () => {
      for (const tenant of ['a', 'b', 'c', 'd']) await setAll(tenant, named(tenant, 8));
      expect(await bytesInRedis()).toBe(400_000);
      expect(await two[0]!.bytesInUse()).toBe(400_000);
      const keptOf = async (tenant: string) =>
        (await areStored(named(tenant, 8))).filter(Boolean).length;
      // The order of entries of `b` depends on how Redis interleaves the instances.
      expect(await Promise.all(['a', 'b', 'c', 'd'].map(keptOf))).toEqual([0, 4, 8, 8]);
    });

    it('count an entry once however often it is stored, and an expired one not at all', async () => {
      for (let times = 0; times < 15; times++) await setAll('tenant', ['same']);
      expect(await two[0]!.bytesInUse()).toBe(20_000);
      await setAll('tenant', named('short', 9), 1);
      await until(async () => (await operator.exists('gateway:cache:short8')) === 0);
      await setAll('tenant', named('next', 9));
      expect(await two[0]!.bytesInUse()).toBe(200_000);
      expect(await areStored(['same', 'next0', 'next8'])).toEqual([true, true, true]);
    });

    it('reset with the entries when Redis comes back empty', async () => {
      await setAll('tenant', named('a', 10));
      await operator.flushall();
      await setAll('tenant', named('b', 10));
      expect(await bytesInRedis()).toBe(200_000);
      expect(await two[0]!.bytesInUse()).toBe(200_000);
    });

    it('exclude entries larger than a tenant’s share', async () => {
      two[0]!.set('tenant', 'long', Buffer.alloc(200_000), 60);
      await settled();
      expect(await areStored(['long'])).toEqual([false]);
      expect(warnings).not.toHaveBeenCalled();
    });
  });

  it('evicts half of its entries when Redis is out of memory, and continues', async () => {
    const ownRedis = await startTestRedis();
    const operator = new Redis(ownRedis.url);
    const store = withPatience(new RedisCacheStore(ownRedis.url, LIMITS, SECRET));
    await store.onModuleInit();
    try {
      for (let at = 0; at < 50; at++) store.set('tenant', `k${at}`, Buffer.alloc(100_000), 60);
      await until(async () => (await store.bytesInUse()) === 50 * (100_000 + OVERHEAD));
      const used = Number(/used_memory:(\d+)/.exec(await operator.info('memory'))![1]);
      await operator.config('SET', 'maxmemory', used);
      // Redis frees buffers meanwhile, so the first of these writes may still fit.
      let written = 50;
      await until(() => {
        if (warnings.mock.calls.some(([text]) => String(text).includes('OOM'))) return true;
        store.set('tenant', `k${written++}`, Buffer.alloc(100_000), 60);
        return false;
      });
      // Other clients, such as the queue, can write again.
      await operator.set('of the queue', Buffer.alloc(1_000_000));
      let bytes = 0;
      await until(async () => {
        bytes = await store.bytesInUse().catch(() => 0);
        return bytes > 0;
      });
      expect(bytes).toBeLessThanOrEqual((written / 2) * (100_000 + OVERHEAD));
      expect(await store.get('k49')).toBeDefined();
      store.set('tenant', 'one more', Buffer.alloc(100_000), 60);
      await until(async () => (await store.get('one more')) !== undefined);
    } finally {
      operator.disconnect();
      store.onApplicationShutdown();
      await ownRedis.stop();
    }
  });

  it('leaves half of a limited Redis to others, and warns when it drops keys', async () => {
    const ownRedis = await startTestRedis();
    const operator = new Redis(ownRedis.url);
    await operator.config('SET', 'maxmemory', 16_000_000);
    await operator.config('SET', 'maxmemory-policy', 'volatile-lru');
    const store = withPatience(new RedisCacheStore(ownRedis.url, LIMITS, SECRET));
    await store.onModuleInit();
    try {
      await until(() => warnings.mock.calls.length > 0);
      expect(warnings.mock.calls[0]![0]).toContain('maxmemory-policy volatile-lru');
      let bytes = 0;
      for (let at = 0; at < 90; at++) {
        store.set('tenant', `k${at}`, Buffer.alloc(100_000), 60);
        bytes = await store.bytesInUse();
      }
      expect(bytes).toBeGreaterThan(7_500_000);
      expect(bytes).toBeLessThanOrEqual(8_000_000);
      expect(await store.get('k89')).toBeDefined();
    } finally {
      operator.disconnect();
      store.onApplicationShutdown();
      await ownRedis.stop();
    }
  });

  it('finds nothing during an outage of Redis, logs it once, and recovers', async () => {
    const ownRedis = await startTestRedis();
    const store = withPatience(new RedisCacheStore(ownRedis.url, LIMITS, SECRET));
    await store.onModuleInit();
    try {
      store.set('tenant', 'key', Buffer.from('x'), 60);
      expect(await store.get('key')).toBeDefined();
      await ownRedis.stop();
      for (let request = 0; request < 5; request++) {
        store.set('tenant', 'key', Buffer.from('x'), 60);
        expect(await store.get('key')).toBeUndefined();
      }
      expect(warnings).toHaveBeenCalledTimes(1);

      const restarted = await startTestRedis(Number(new URL(ownRedis.url).port));
      try {
        let found: Buffer | undefined;
        await until(async () => {
          store.set('tenant', 'key', Buffer.from('y'), 60);
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

  it('waits a tenth of a second for a hanging Redis, and then not at all for a while', async () => {
    const ownRedis = await startTestRedis();
    const store = new RedisCacheStore(ownRedis.url, LIMITS, SECRET);
    await store.onModuleInit();
    const operator = new Redis(ownRedis.url);
    try {
      await until(async () => {
        store.set('tenant', 'key', Buffer.from('x'), 60);
        return (await store.get('key')) !== undefined;
      });
      warnings.mockClear();
      await operator.call('CLIENT', 'PAUSE', '60000', 'ALL');
      const startedMs = performance.now();
      expect(await store.get('key')).toBeUndefined();
      const firstMs = performance.now() - startedMs;
      expect(firstMs).toBeGreaterThan(90);
      for (let request = 0; request < 100; request++) {
        expect(await store.get('key')).toBeUndefined();
      }
      // Waiting a tenth of a second each time would take ten seconds.
      expect(performance.now() - startedMs).toBeLessThan(9_000);
      expect(warnings).toHaveBeenCalledTimes(1);
    } finally {
      operator.disconnect();
      store.onApplicationShutdown();
      await ownRedis.stop();
    }
  });

  it('starts without Redis', async () => {
    const store = new RedisCacheStore('redis://127.0.0.1:1', LIMITS, SECRET);
    await store.onModuleInit();
    store.set('tenant', 'key', Buffer.from('x'), 60);
    expect(await store.get('key')).toBeUndefined();
    expect(warnings).toHaveBeenCalledTimes(1);
    store.onApplicationShutdown();
  });
});
