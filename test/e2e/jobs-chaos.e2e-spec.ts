import { afterAll, describe, expect } from '@jest/globals';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobBody } from '../support/job-client.js';
import { jobQueues } from '../support/job-queues.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { startMediaVendor, type MediaVendor } from '../support/media-vendor.js';
import { writeOperatorFiles } from '../support/operator-files.js';
import { hasRedisServer, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { SeededRandom } from '../support/seeded-random.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase } from '../support/test-database.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

const isShort = process.env.CHAOS_JOBS === undefined;
/** The full run uses 500 on each queue; the default is lower, since the suite runs often. */
const JOBS = Number(process.env.CHAOS_JOBS ?? 40);
const CHAOS_MS = JOBS >= 500 ? 40_000 : 4_000;
const WORKERS = 2;
const LEAST_KILLS = 1;
const SUBMITTERS = 8;
const API_KEY = 'sk-chaos-test-key-000001';
/** Leases of dead workers expire after 15 seconds, and a sweep finds lost wake-ups. */
const ENDS_LIMIT_MS = 180_000;
const SENTENCES = 200;

interface JobRow {
  id: string;
  status: string;
  model: string;
  actualCost: number;
  chargeCount: number;
  charged: number;
  logs: number;
  logged: number;
  kept: number;
}

/** The row is authoritative, so the short run uses one queue; `jobs.e2e` covers both. */
const [onDatabase, onRedis] = jobQueues();
const QUEUES = isShort ? [hasRedisServer ? onRedis : onDatabase] : [onDatabase, onRedis];

describe.each(QUEUES)('jobs, queued in $name', ({ it, startRedis }) => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  });

  it('end, are sent and are charged once, whichever process is killed', async () => {
    const numbers = new SeededRandom(7);
    const random = (): number => numbers.next();
    const vendors: MediaVendor[] = [];
    for (let index = 0; index < 3; index++) {
      const vendor = await startMediaVendor({
        random,
        refuses: 0.1,
        losesAnswers: 0.03,
        workMs: 400,
      });
      vendors.push(vendor);
      cleanUps.push(() => vendor.close());
    }
    const webhooks = await startWebhookReceiver(10);
    cleanUps.push(() => webhooks.close());
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-chaos-'));
    await chmod(dataDirectory, 0o711);
    cleanUps.push(() => rm(dataDirectory, { recursive: true, force: true }));
    const files = await writeOperatorFiles(
      Object.fromEntries(vendors.map(({ baseUrl }, index) => [`vendor-${index}`, baseUrl])),
      [
        modelOf('vendor-0/picture', 'image', { image: '0.04' }, 0, 1),
        modelOf('vendor-1/film', 'video', { video_second: '0.01' }, 1, 2),
        modelOf('vendor-2/voice', 'speech', { audio_character: '0.000001' }, 2, 0),
      ],
    );
    cleanUps.push(() => files.remove());
    let redis: TestRedis | undefined = await startRedis();
    cleanUps.push(async () => redis?.stop());
    const environment = {
      ...files.environment,
      ...(redis && { REDIS_URL: redis.url }),
      DATABASE_URL: database.url,
      GATEWAY_DATA_DIR: dataDirectory,
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
      GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '100000',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      GATEWAY_JOB_WORKERS: 'false',
      GATEWAY_JOB_POLL_MS: '300',
      GATEWAY_COOLDOWN_MS: '0',
      GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
    };
    const gateway = await spawnGateway(environment);
    cleanUps.push(() => gateway.stop('SIGKILL'));
    const workers: SpawnedGateway[] = [];
    cleanUps.push(() => Promise.all(workers.map((worker) => worker.stop('SIGKILL'))));
    const spawned = Array.from({ length: WORKERS }, () => spawnGateway(environment, 'worker'));
    workers.push(...(await Promise.all(spawned)));

    const call = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(gateway.url + path, {
        ...init,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      });
    const bodies = Array.from({ length: JOBS }, (_, number) => ({
      ...bodyOf(number),
      webhook_url: webhooks.url,
    }));
    const ids: string[] = [];
    const submit = async (): Promise<void> => {
      for (let body = bodies.shift(); body; body = bodies.shift()) {
        const response = await call('/v1/jobs', { method: 'POST', body: JSON.stringify(body) });
        const job = (await response.json()) as JobBody;
        expect([response.status, job]).toMatchObject([202, { status: expect.any(String) }]);
        ids.push(job.id);
        if (random() < 0.1) {
          await wait(random() * 1_000);
          await call(`/v1/jobs/${job.id}`, { method: 'DELETE' });
        }
        // Spread over most of the time during which workers are killed.
        await wait(((random() * CHAOS_MS * SUBMITTERS) / JOBS) * 1.2);
      }
    };

    let kills = 0;
    const killAgainAndAgain = async (victim: number): Promise<void> => {
      const endMs = Date.now() + CHAOS_MS;
      while (Date.now() < endMs || kills < LEAST_KILLS) {
        await wait(500 + random() * 2_500);
        await workers[victim]!.stop('SIGKILL');
        kills++;
        workers[victim] = await spawnGateway(environment, 'worker');
      }
    };
    /** Kills all workers, waits for their leases to expire, and starts one that ends the jobs. */
    const killAll = async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.stop('SIGKILL')));
      kills += workers.length;
      await database.database.query(
        `UPDATE jobs SET lease_until = lease_until - interval '1 minute',
           run_at = run_at - interval '1 minute'`,
      );
      workers.splice(0, WORKERS, await spawnGateway(environment, 'worker'));
    };
    const loseRedis = async (): Promise<void> => {
      if (!redis) return;
      const port = Number(new URL(redis.url).port);
      await wait(CHAOS_MS / 2);
      await redis.stop();
      await wait(1_500);
      redis = await startTestRedis(port);
    };
    await Promise.all([
      ...Array.from({ length: SUBMITTERS }, submit),
      ...workers.slice(isShort ? 1 : 0).map((_, victim) => killAgainAndAgain(victim)),
      loseRedis(),
    ]);
    expect(ids).toHaveLength(JOBS);
    if (isShort) await killAll();

    const count = async (sql: string): Promise<number> =>
      (await database.database.query<{ count: number }>(sql)).rows[0]!.count;
    const limitMs = Date.now() + ENDS_LIMIT_MS;
    const isOver = async (): Promise<boolean> =>
      (await count("SELECT count(*) FROM jobs WHERE status IN ('queued', 'in_progress')")) === 0 &&
      (await count('SELECT count(*) FROM jobs WHERE webhook_due OR cancel_due')) === 0 &&
      new Set(webhooks.received.map(({ jobId }) => jobId)).size === JOBS;
    while (Date.now() < limitMs && !(await isOver())) await wait(250);

    const { rows } = await database.database.query<JobRow>(`
      SELECT id, status, model, actual_cost AS "actualCost",
        (SELECT count(*) FROM ledger_entries AS entry
           WHERE entry.request_id = jobs.request_id) AS "chargeCount",
        (SELECT coalesce(-sum(amount), 0)::bigint FROM ledger_entries AS entry
           WHERE entry.request_id = jobs.request_id) AS charged,
        (SELECT count(*) FROM request_logs AS log
           WHERE log.request_id = jobs.request_id) AS logs,
        (SELECT coalesce(sum(cost), 0)::bigint FROM request_logs AS log
           WHERE log.request_id = jobs.request_id) AS logged,
        (SELECT count(*) FROM job_artifacts AS file WHERE job_id = jobs.id AND kept) AS kept
      FROM jobs`);
    expect(rows).toHaveLength(JOBS);
    const told = new Map<string, Set<string>>();
    for (const { jobId, key, type } of webhooks.received) {
      told.set(jobId, (told.get(jobId) ?? new Set()).add(`${key} ${type}`));
    }
    const odd = rows.filter((row) => {
      const isSuccess = row.status === 'succeeded';
      const cost = isSuccess ? COSTS[row.model] : 0;
      const isSound =
        ['succeeded', 'failed', 'cancelled'].includes(row.status) &&
        [row.actualCost, row.charged, row.logged].every((amount) => amount === cost) &&
        row.chargeCount === (isSuccess ? 1 : 0) &&
        row.logs === 1 &&
        row.kept === (isSuccess ? 1 : 0);
      const [only, ...others] = told.get(row.id) ?? [];
      return !isSound || others.length > 0 || !only?.endsWith(` job.${row.status}`);
    });
    expect(odd).toEqual([]);
    expect(findTwice(vendors.flatMap(({ accepted }) => accepted))).toEqual([]);
    expect(await findLedgerFaults(database.database)).toEqual([]);
    expect(await count('SELECT count(*) FROM holds')).toBe(0);

    // Faults must have occurred, and most jobs must have succeeded all the same.
    expect(vendors.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0);
    const statuses = rows.map(({ status }) => status);
    const succeeded = statuses.filter((status) => status === 'succeeded').length;
    // In a short run, many jobs may be at a vendor when their worker dies, and are not sent twice.
    expect(succeeded).toBeGreaterThan(JOBS * (JOBS >= 500 ? 0.6 : 0.3));
    if (!isShort) {
      const counts = new Map<string, number>();
      for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
      const ends = [...counts].map(([status, sum]) => `${sum} ${status}`).join(', ');
      process.stdout.write(`${JOBS} jobs, ${kills} kills: ${ends}\n`);
    }
  }, 480_000);
});

const COSTS: Readonly<Record<string, number>> = {
  'vendor-0/picture': 40_000,
  'vendor-1/film': 40_000,
  'vendor-2/voice': speechOf(100).length,
};

function modelOf(id: string, kind: string, prices: object, first: number, second: number): object {
  return {
    id,
    kind,
    pricing: { prompt: '0', completion: '0', ...prices },
    routes: [first, second].map((vendor, priority) => ({
      provider: `vendor-${vendor}`,
      model: 'any',
      priority,
    })),
  };
}

function bodyOf(number: number): object {
  const name = 100 + number;
  if (number % 5 === 0) {
    return { model: 'vendor-2/voice', input: speechOf(name), response_format: 'pcm' };
  }
  const model = number % 2 === 0 ? 'vendor-0/picture' : 'vendor-1/film';
  return { model, prompt: `Job ${name}.` };
}

/** Longer than one call accepts, with no two sentences alike. */
function speechOf(name: number): string {
  const sentences = Array.from(
    { length: SENTENCES },
    (_, number) => `This is job ${String(name).padStart(4, '0')}, sentence ${1_000 + number}.`,
  );
  return sentences.join(' ');
}

function findTwice(words: readonly string[]): string[] {
  const seen = new Set<string>();
  return words.filter((word) => seen.size === seen.add(word).size);
}
