import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bootGateway } from '../support/boot-gateway.js';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

describe('a worker process', () => {
  let database: TestDatabase;
  let dataDirectory: string;
  let worker: SpawnedGateway;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-worker-'));
    await chmod(dataDirectory, 0o711);
    worker = await spawnGateway(
      {
        DATABASE_URL: database.url,
        GATEWAY_DATA_DIR: dataDirectory,
        GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
        GATEWAY_JOB_WORKERS: 'false',
      },
      'worker',
    );
  });
  afterAll(async () => {
    await worker.stop('SIGKILL');
    await database.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it('serves the operations paths', async () => {
    const health = await fetch(`${worker.url}/healthz`);
    expect(await health.json()).toEqual({ status: 'ok' });
    const ready = await fetch(`${worker.url}/readyz?verbose`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({ status: 'ok', queue: 'database' });
    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    expect(metrics).toContain('gateway_queue_depth{topic="jobs",state="waiting"} 0');
  });

  it.each(['/v1/models', '/v1/customer/api-keys', '/docs', '/healthz/x'])(
    'leaves %s to the gateways',
    async (path) => {
      const response = await fetch(worker.url + path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { type: 'not_found_error' } });
    },
  );

  it('creates no tenant, and stops at once', async () => {
    const { rows } = await database.database.query('SELECT FROM tenants');
    expect(rows).toHaveLength(0);
    const startedAtMs = performance.now();
    expect(await worker.stop()).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(4_000);
  });

  it('does not start without a database to share', async () => {
    await expect(spawnGateway({ GATEWAY_DATA_DIR: dataDirectory }, 'worker')).rejects.toThrow(
      'DATABASE_URL must be set for a worker',
    );
  });
});

describeWithRedis('GET /readyz', () => {
  it('reports an outage of Redis, during which chats work, and its end', async () => {
    const redis = await startTestRedis();
    let again: TestRedis | undefined;
    const gateway = await bootGateway({ REDIS_URL: redis.url });
    try {
      const before = await gateway.fetch('/readyz');
      expect(before.status).toBe(200);
      expect(await before.json()).toMatchObject({
        queue: 'redis',
        rate_limits: 'redis',
        degraded: [],
      });
      await redis.stop();
      // Results are cached for a quarter of a second.
      await wait(300);
      const after = await gateway.fetch('/readyz');
      expect(after.status).toBe(200);
      expect(await after.json()).toMatchObject({
        status: 'ok',
        database: 'ok',
        rate_limits: 'process',
        queue: 'unreachable',
        degraded: ['redis'],
      });
      const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };
      expect((await gateway.post('/v1/chat/completions', body)).status).toBe(200);

      again = await startTestRedis(Number(new URL(redis.url).port));
      await until(async () => {
        const readiness = (await (await gateway.fetch('/readyz')).json()) as Record<
          string,
          unknown
        >;
        return readiness.rate_limits === 'redis' && readiness.queue === 'redis';
      });
      expect(await (await gateway.fetch('/readyz')).json()).toMatchObject({ degraded: [] });
    } finally {
      await gateway.close();
      await redis.stop();
      await again?.stop();
    }
  });
});
