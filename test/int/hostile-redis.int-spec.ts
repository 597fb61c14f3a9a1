import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { Caller } from '../../src/core/access/caller.js';
import { RedisRateLimiter } from '../../src/core/access/rate-limiters.js';
import { RedisCacheStore } from '../../src/core/routing/cache/redis-cache-store.js';
import { BullConnections } from '../../src/platform/queue/bull-connections.js';
import { RedisChannel } from '../../src/platform/redis/redis-channel.js';
import { openQueue, type QueueInstance } from '../support/queue-instance.js';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const SECRET = 'a-secret-for-tests-of-enough-length';
const LIMITS = { maxBytes: 100_000_000, maxBytesPerTenant: 10_000_000 };
const CALLER = { apiKeyId: 'key', rateLimitPerMinute: 5 } as Caller;

const logs = (['warn', 'log', 'error'] as const).map((level) =>
  jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined),
);
afterEach(() => logs.forEach((log) => log.mockClear()));

/** Answers the handshake like a real server, so that each attack hits a connection in use. */
const INFO = 'redis_version:7.0.0\r\nloading:0\r\nrole:master\r\n';

const ATTACKS: readonly [string, string | Buffer][] = [
  ['an array longer than any memory', '*4294967296\r\n'],
  ['arrays of 30 million elements in arrays', '*30000000\r\n'.repeat(200)],
  ['arrays nested 100,000 deep', '*1\r\n'.repeat(100_000)],
  ['a bulk string of 4 GB', `$4294967296\r\n${'x'.repeat(1_000_000)}`],
  ['a length that is not a number', '$x\r\n'],
  ['a negative length', '$-99999999999999999999\r\n'],
  ['an endless line', `+${'x'.repeat(1_000_000)}`],
  ['an endless number', `:${'9'.repeat(1_000_000)}\r\n`],
  ['an unknown type', '!boom\r\n'],
  ['random bytes', Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7919) % 256))],
  ['an empty array', '*0\r\n'],
  ['no array', '*-1\r\n'],
  ['numbers where texts belong', ':1\r\n'],
  ['arrays of nothing', '*3\r\n$-1\r\n$-1\r\n$-1\r\n'],
  ['unsolicited replies', '+OK\r\n'.repeat(10_000)],
  ['counts that are not numbers', '*2\r\n$3\r\nabc\r\n$1\r\n{\r\n'],
  ['an error', '-ERR no\r\n'],
];

/** In the handshake, such replies take other code paths. */
const CASES = ATTACKS.flatMap(([name, bytes], index) => [
  [name, bytes, true] as const,
  ...(index % 5 === 0 ? [[`${name} in the handshake`, bytes, false] as const] : []),
]);

describe('a malicious Redis server', () => {
  let server: Server;
  let url: string;
  let reply: string | Buffer = '';
  let isHonestAtFirst = true;
  const sockets = new Set<Socket>();
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown): void => void uncaught.push(error);

  beforeAll(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      socket.on('data', (chunk: Buffer) => {
        const text = chunk.toString('latin1').toLowerCase();
        if (isHonestAtFirst && text.includes('client')) {
          socket.write('+OK\r\n'.repeat(text.split('client').length - 1));
        }
        if (isHonestAtFirst && text.includes('info')) {
          socket.write(`$${INFO.length}\r\n${INFO}\r\n`);
        } else if (!text.includes('client')) socket.write(reply);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, onUncaught);
  });
  beforeEach(() => {
    uncaught.length = 0;
  });
  afterAll(async () => {
    for (const event of ['uncaughtException', 'unhandledRejection']) process.off(event, onUncaught);
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });

  it.each(CASES)('survives %s', async (_name, bytes, late) => {
    reply = bytes;
    isHonestAtFirst = late;
    const limiter = new RedisRateLimiter(url);
    const store = new RedisCacheStore(url, LIMITS, SECRET);
    const channel = new RedisChannel(url);
    const connections = new BullConnections(url);
    const memory = process.memoryUsage.rss();
    channel.listen(
      'topic',
      () => undefined,
      () => undefined,
    );
    const queue = connections.create('client');
    const blocking = connections.create('bclient');
    await Promise.all([limiter.onModuleInit(), store.onModuleInit(), channel.onModuleInit()]);
    const pending = [queue.llen('x'), blocking.brpoplpush('a', 'b', 1)];
    for (const command of pending) command.catch(() => undefined);
    expect(await limiter.take(CALLER)).toMatchObject({ allowed: expect.any(Boolean) });
    expect(await limiter.takeParts([{ name: 'x', amount: 1, limit: 5 }])).toBeDefined();
    expect(await store.get('key')).toBeUndefined();
    await channel.publish('topic', 'text');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const grownMb = (process.memoryUsage.rss() - memory) / 1_000_000;
    limiter.onApplicationShutdown();
    store.onApplicationShutdown();
    channel.onApplicationShutdown();
    connections.onApplicationShutdown();
    expect(uncaught).toEqual([]);
    expect(grownMb).toBeLessThan(150);
  });
});

describeWithRedis('an attacker who writes to Redis', () => {
  let redis: TestRedis;
  let queue: QueueInstance;
  let attacker: Redis;

  beforeAll(async () => {
    redis = await startTestRedis();
    attacker = new Redis(redis.url);
    queue = await openQueue({ redisUrl: redis.url, databaseUrl: '' });
  });
  afterAll(async () => {
    await queue.close();
    attacker.disconnect();
    await redis.stop();
  });

  it('only wakes consumers, and stops no topic', async () => {
    const keys: unknown[] = [];
    await queue.queue.consume({
      jobs: async (key) => {
        keys.push(key);
      },
    });
    const jobs: readonly Record<string, string>[] = [
      { data: 'null' },
      { data: '[]' },
      { data: '"text"' },
      { data: 'not JSON' },
      { data: '{"key":{"toString":1}}' },
      { data: '{"key":["a"],"failures":-1}' },
      { data: `{"key":"${'k'.repeat(100_000)}"}` },
      { data: '{"__proto__":{"key":"polluted"},"constructor":{"prototype":{"x":1}}}' },
      { data: '{"key":"a","failures":-1e308}' },
      { data: '{"key":"b","failures":"x"}', opts: 'null' },
      { data: '{"key":"c"}', opts: '{"attempts":1e9,"backoff":{"type":"none"},"timeout":-1}' },
      { data: '{"key":"d"}', name: '__proto__' },
      { data: '{"key":"e"}', name: 'constructor', stacktrace: '{"length":1e9}', progress: '{' },
      { name: '__default__' },
    ];
    for (const [index, job] of jobs.entries()) {
      const fields = { name: '__default__', opts: '{}', timestamp: '1', delay: '0', ...job };
      await attacker.hset(`gateway-queue:jobs:evil${index}`, fields);
      await attacker.lpush('gateway-queue:jobs:wait', `evil${index}`);
    }
    await attacker.lpush('gateway-queue:jobs:wait', 'no such job', '');
    await queue.queue.wake('jobs', 'honest');
    await until(() => keys.includes('honest'));
    expect(keys.every((key) => typeof key === 'string' && key.length <= 200)).toBe(true);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it('only disables shared counts with keys of the wrong type', async () => {
    const limiter = new RedisRateLimiter(redis.url);
    const store = new RedisCacheStore(redis.url, LIMITS, SECRET);
    for (const part of [limiter, store]) await part.onModuleInit();
    await attacker.set('gateway:rate-limit:key', 'text');
    await attacker.hset('gateway:rate-limit:counts', { window: 'x', count: 'abc' });
    await attacker.lpush('gateway:cache:key', 'x');
    for (const list of ['ends', 'order', 'sizes', 'bytes']) {
      await attacker.set(`gateway:cache-${list}`, 'text');
    }
    for (let count = 1; count <= 6; count++) {
      expect((await limiter.take(CALLER)).allowed).toBe(count <= 5);
    }
    expect(await store.get('key')).toBeUndefined();
    store.set('tenant', 'key', Buffer.from('x'), 60);
    limiter.onApplicationShutdown();
    store.onApplicationShutdown();
  });
});
