import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { collectKeys } from '../support/collect-keys.js';
import { openQueue } from '../support/queue-instance.js';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { keepsTheContract } from '../support/work-queue-contract.js';

jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

describe('the queue in the database', () => {
  let database: TestDatabase;
  keepsTheContract('database', {
    async open() {
      database = await createTestDatabase({ migrate: false });
      return { redisUrl: undefined, databaseUrl: database.url };
    },
    close: () => database.drop(),
  });

  describe('when its connections are cut', () => {
    it('goes on by itself', async () => {
      const own = await createTestDatabase({ migrate: false });
      const instance = await openQueue({ redisUrl: undefined, databaseUrl: own.url });
      try {
        const { jobs: delivered } = await collectKeys(instance.queue, 'jobs');
        await instance.queue.wake('jobs', 'before');
        await until(() => delivered.includes('before'));
        await own.database.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name LIKE 'model-gateway queue%'`,
        );
        await until(() => instance.queue.wake('jobs', 'after').then(truth, lie));
        await until(() => delivered.includes('after'));
      } finally {
        await instance.close();
        await own.drop();
      }
    });
  });

  it('needs two sessions while nothing has happened, and delivers what then comes, by another too', async () => {
    const own = await createTestDatabase({ migrate: false });
    const place = { redisUrl: undefined, databaseUrl: own.url };
    const instance = await openQueue(place);
    const other = await openQueue(place);
    try {
      const { jobs, webhooks } = await collectKeys(instance.queue, 'jobs', 'webhooks');
      // Long enough for the look after the start.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const { rows } = await own.database.query<{ sessions: number }>(
        `SELECT count(*)::int AS sessions FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'model-gateway queue%'`,
      );
      // One of them, in the pool, may be the other instance's.
      expect(rows[0]?.sessions).toBeLessThanOrEqual(3);
      await instance.queue.wake('jobs', 'own');
      await other.queue.wake('webhooks', 'from elsewhere');
      await other.queue.wake('webhooks', 'later', { delayMs: 50 });
      await until(() => jobs.includes('own') && webhooks.includes('later'));
      expect(webhooks.toSorted()).toEqual(['from elsewhere', 'later']);
    } finally {
      await instance.close();
      await other.close();
      await own.drop();
    }
  });

  it('takes many wake-ups at each look', async () => {
    const own = await createTestDatabase({ migrate: false });
    const instance = await openQueue({ redisUrl: undefined, databaseUrl: own.url });
    const asked = jest.spyOn(pg.Client.prototype, 'query');
    try {
      const { jobs: delivered } = await collectKeys(instance.queue, 'jobs');
      const keys = Array.from({ length: 300 }, (_, index) => `job-${index}`);
      await Promise.all(keys.map((key) => instance.queue.wake('jobs', key)));
      await until(() => keys.every((key) => delivered.includes(key)));
      const statements = asked.mock.calls.map(([query]) => JSON.stringify(query));
      const looks = statements.filter((text) => text.includes('skip locked'));
      expect(looks.length).toBeGreaterThan(0);
      expect(looks.length).toBeLessThan(50);
    } finally {
      asked.mockRestore();
      await instance.close();
      await own.drop();
    }
  });

  it('is made by several instances that start at once', async () => {
    const own = await createTestDatabase({ migrate: false });
    const place = { redisUrl: undefined, databaseUrl: own.url };
    const instances = await Promise.all([openQueue(place), openQueue(place), openQueue(place)]);
    await Promise.all(instances.map(({ queue }) => queue.check()));
    await Promise.all(instances.map((instance) => instance.close()));
    await own.drop();
  });
});

describeWithRedis('the queue on Redis', () => {
  let redis: TestRedis;
  keepsTheContract('redis', {
    async open() {
      redis = await startTestRedis();
      return { redisUrl: redis.url, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
    },
    close: () => redis.stop(),
  });

  it('outlives a Redis that is killed and comes back empty', async () => {
    const own = await startTestRedis();
    const instance = await openQueue({ redisUrl: own.url, databaseUrl: '' });
    const { queue } = instance;
    let restarted: TestRedis | undefined;
    try {
      const { jobs: delivered } = await collectKeys(queue, 'jobs');
      await queue.wake('jobs', 'before');
      await until(() => delivered.includes('before'));

      await own.stop();
      const startedAtMs = performance.now();
      await expect(queue.wake('jobs', 'meanwhile')).rejects.toThrow('Redis');
      await expect(queue.check()).rejects.toThrow('Redis');
      expect(performance.now() - startedAtMs).toBeLessThan(9_000);

      restarted = await startTestRedis(Number(new URL(own.url).port));
      await until(() => queue.wake('jobs', 'after').then(truth, lie));
      await until(() => delivered.includes('after'));
      await queue.wake('jobs', 'later', { delayMs: 100 });
      await until(() => delivered.includes('later'));
    } finally {
      await instance.close();
      await restarted?.stop();
    }
  });

  it('survives wake-ups that a Redis without its data hands out', async () => {
    const own = await startTestRedis();
    const { Redis } = await import('ioredis');
    const probe = new Redis(own.url);
    // A worker that got its wake-up before records when it began.
    await probe.hset('gateway-queue:jobs:1', 'processedOn', '1790000000000');
    const instance = await openQueue({ redisUrl: own.url, databaseUrl: '' });
    try {
      const { jobs: delivered } = await collectKeys(instance.queue, 'jobs');
      await instance.queue.wake('jobs', 'a key');
      await until(() => delivered.includes('a key'), 10_000);
      // The worker continues with a wake-up that has lost its key.
      await probe.lpush('gateway-queue:jobs:wait', 'lost:0');
      await instance.queue.wake('jobs', 'another');
      await until(() => delivered.includes('another'));
      expect(delivered).toEqual(['a key', 'another']);
    } finally {
      probe.disconnect();
      await instance.close();
      await own.stop();
    }
  });

  it('starts, and stops, without a Redis', async () => {
    const instance = await openQueue({ redisUrl: 'redis://127.0.0.1:1', databaseUrl: '' });
    await collectKeys(instance.queue, 'jobs');
    const startedAtMs = performance.now();
    await instance.close();
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  });

  it('leaves next to nothing in Redis once all is done', async () => {
    const own = await startTestRedis();
    const instance = await openQueue({ redisUrl: own.url, databaseUrl: '' });
    const { Redis } = await import('ioredis');
    const probe = new Redis(own.url);
    try {
      const { jobs: delivered } = await collectKeys(instance.queue, 'jobs');
      const keys = Array.from({ length: 50 }, () => randomUUID());
      await Promise.all(keys.map((key) => instance.queue.wake('jobs', key)));
      await until(() => delivered.length === keys.length);
      // Bull's own few counters; what belongs to a key runs out.
      await until(async () => {
        let persistent = 0;
        for (const key of await probe.keys('*')) if ((await probe.pttl(key)) === -1) persistent++;
        return persistent < 10;
      });
    } finally {
      probe.disconnect();
      await instance.close();
      await own.stop();
    }
  });
});

const truth = (): boolean => true;
const lie = (): boolean => false;
