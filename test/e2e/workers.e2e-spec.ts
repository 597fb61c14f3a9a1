import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const API_KEY = 'sk-workers-test-key-0001';
const MANAGEMENT_KEY = 'sk-mgmt-workers-test-key-0001';
const LIMIT = 40;
/** Throws an unhandled error on a signal, like a bug would. */
const BREAK_ON_SIGNAL = `process.on('SIGUSR2', () => { throw new Error('a defect'); })`;

describeWithRedis('several workers', () => {
  let redis: TestRedis;
  let database: TestDatabase;
  let dataDirectory: string;
  let gateway: SpawnedGateway;

  beforeAll(async () => {
    redis = await startTestRedis();
    database = await createTestDatabase();
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-workers-'));
    await chmod(dataDirectory, 0o711);
    gateway = await spawnGateway({
      WORKERS: '2',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BREAK_ON_SIGNAL)}`,
      REDIS_URL: redis.url,
      DATABASE_URL: database.url,
      GATEWAY_DATA_DIR: dataDirectory,
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
      GATEWAY_BOOTSTRAP_MANAGEMENT_KEY: MANAGEMENT_KEY,
      GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: String(LIMIT),
      GATEWAY_SANDBOX: 'true',
      GATEWAY_COOLDOWN_MS: '60000',
    });
    // Both listen once each has reported its metrics.
    await until(async () => (await reportingWorkers(gateway)) === 2);
    await wait(2_000);
  });
  afterAll(async () => {
    await gateway.stop('SIGKILL');
    await redis.stop();
    await database.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  const post = (path: string, key: string, body: object): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify(body),
    });

  const ask = async (model = 'sandbox/echo', key = API_KEY): Promise<number> => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const response = await post('/v1/chat/completions', key, { model, messages });
    await response.text();
    return response.status;
  };

  const completed = async (): Promise<number> => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/gateway_requests_total\{.*outcome="completed".*\} (\d+)\n/.exec(metrics)?.[1]);
  };

  it('share one rate limit exactly, and their metrics add up', async () => {
    // All within one minute.
    const second = new Date().getUTCSeconds();
    if (second > 40) await wait((61 - second) * 1000);
    const statuses: number[] = [];
    // Few at a time, so that Redis answers in time on a busy machine.
    while (statuses.length < 2 * LIMIT) {
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, () => ask()))));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(LIMIT);

    expect(await completed()).toBe(LIMIT);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    // Constant metrics appear once; counters are the sum of both.
    expect(metrics).toMatch(/gateway_build_info\{[^}]*\} 1\n/);
    for (const use of ['rate_limits', 'cache', 'queue', 'routes']) {
      expect(metrics).toContain(`gateway_redis_degraded{use="${use}"} 0\n`);
    }
    expect(metrics).toContain('gateway_database_connections_max{pool="ledger"} 4\n');
  });

  it('share which routes fail', async () => {
    const cooling = async (): Promise<number> => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(/^gateway_routes_cooling (\d+)/m.exec(metrics)?.[1]);
    };
    // The first key is at its limit.
    const made = await post('/v1/customer/api-keys', MANAGEMENT_KEY, { name: 'another' });
    const { key } = (await made.json()) as { key: string };
    // In sequence, until one of the two workers has seen five failures.
    await until(async () => {
      await ask('sandbox/fault-503', key);
      return (await cooling()) > 0;
    });
    await until(async () => (await cooling()) === 2);
  });

  const replaced = async (pick: 'eldest' | 'youngest', signal: NodeJS.Signals): Promise<void> => {
    const [eldest, youngest] = workersOf(gateway) as [number, number];
    const [victim, survivor] = pick === 'eldest' ? [eldest, youngest] : [youngest, eldest];
    process.kill(victim, signal);
    await until(() => {
      const workers = workersOf(gateway);
      return workers.length === 2 && !workers.includes(victim) && workers.includes(survivor);
    });
  };

  it('are replaced after an unhandled error', async () => {
    await replaced('eldest', 'SIGUSR2');
    await until(() => gateway.output().includes('A worker ended (1) and is replaced.'));
    expect(gateway.output()).toContain('a defect');
  });

  it('are replaced when they die, and stop together', async () => {
    // The oldest worker is listening for sure.
    await replaced('youngest', 'SIGKILL');
    expect(await completed()).toBe(LIMIT);
    // The survivor answers while the replacement is starting.
    expect(await ask()).toBeGreaterThanOrEqual(200);
    const workers = workersOf(gateway);
    expect(await gateway.stop()).toBe(0);
    expect(workers.filter(isAlive)).toEqual([]);
  });
});

/** Returns the process ids of the primary's children. */
function workersOf({ process: { pid } }: SpawnedGateway): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** Returns how many workers report metrics; each has the same limit of open files. */
async function reportingWorkers({ url, process: { pid } }: SpawnedGateway): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1];
  const sum = /^process_max_fds (\d+)/m.exec(metrics)?.[1];
  return Number(sum) / Number(limit);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
