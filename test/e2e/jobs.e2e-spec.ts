import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';
import { ArtifactStore } from '../../src/features/jobs/artifacts/artifact-store.js';
import { JobSweeper } from '../../src/features/jobs/job-sweeper.service.js';
import { JobWorker } from '../../src/features/jobs/job-worker.service.js';
import { JobOutcomes } from '../../src/features/jobs/job-outcomes.service.js';
import { JobRetentionService } from '../../src/features/jobs/job-retention.service.js';
import { JobsRepository } from '../../src/features/jobs/jobs.repository.js';
import { MediaFailedError } from '../../src/vendors/media-work.js';
import { UpstreamError } from '../../src/vendors/upstream-error.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { broken, done, fakeMedia, file, hang, type FakeMedia } from '../support/fake-media.js';
import { balanceOf, jobEntries, jobLogs } from '../support/job-accounts.js';
import { jobIn, listedJob, readJob, submitJob } from '../support/job-client.js';
import { jobQueues } from '../support/job-queues.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { writeOperatorFiles } from '../support/operator-files.js';
import type { TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { runRow } from '../support/work-engine.js';

const PRICE = 40_000;

describe.each(jobQueues())('a job, queued in $name', ({ it, startRedis }) => {
  let redis: TestRedis | undefined;
  let gateway: BootedGateway;
  let files: Awaited<ReturnType<typeof writeOperatorFiles>>;
  let one: FakeMedia;
  let two: FakeMedia;

  beforeAll(async () => {
    files = await writeOperatorFiles(
      { one: 'http://127.0.0.1:9/v1', two: 'http://127.0.0.1:9/v1' },
      [
        {
          id: 'one/draw',
          kind: 'image',
          pricing: { prompt: '0', completion: '0', image: '0.04' },
          routes: [
            { provider: 'one', model: 'draw', priority: 0 },
            { provider: 'two', model: 'draw', priority: 1 },
          ],
        },
        {
          id: 'one/film',
          kind: 'video',
          pricing: { prompt: '0', completion: '0', video_second: '1' },
        },
      ],
    );
    redis = await startRedis();
    gateway = await bootGateway({
      ...files.environment,
      ...(redis && { REDIS_URL: redis.url }),
      GATEWAY_JOB_POLL_MS: '20',
      GATEWAY_DRAIN_SECONDS: '2',
      GATEWAY_COOLDOWN_MS: '0',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      GATEWAY_ARTIFACT_TTL_SECONDS: '3600',
    });
  });
  beforeEach(() => {
    one = fakeMedia(gateway, 'one');
    two = fakeMedia(gateway, 'two');
  });
  afterEach(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
  afterAll(async () => {
    await gateway.close();
    await redis?.stop();
    await files.remove();
  });

  const draw = { model: 'one/draw', prompt: 'a lighthouse' };
  const get = <Service>(token: abstract new (...args: never[]) => Service): Service =>
    gateway.gateway.application.get(token, { strict: false });
  const change = (id: string, sql: string) =>
    gateway.database.query(`UPDATE jobs SET ${sql} WHERE id = $1`, [id]);
  /** Waits until the vendor's operation id of a job is stored. */
  const accepted = (id: string) =>
    until(async () => {
      const { rows } = await gateway.database.query(
        "SELECT FROM jobs WHERE id = $1 AND step = 'accepted'",
        [id],
      );
      return rows.length === 1;
    });
  const balance = () => balanceOf(gateway);
  const entriesOf = (id: string) => jobEntries(gateway, id);
  const logsOf = (id: string) => jobLogs(gateway, id);

  it('completes, is charged, listed and downloaded', async () => {
    const before = await balance();
    let finish = (): void => undefined;
    one.submit = async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return done(file('first'), file('second'));
    };
    const { id, ...submitted } = await submitJob(gateway, {
      ...draw,
      n: 2,
      metadata: { order: '7' },
      style: 'plain',
    });
    expect(submitted).toMatchObject({
      object: 'image_job',
      status: 'queued',
      provider: null,
      result: null,
      metadata: { order: '7' },
    });
    await jobIn(gateway, id, 'in_progress');
    expect(await balance()).toEqual({ balance: before.balance, held: before.held + 2 * PRICE });
    expect(await listedJob(gateway, id)).toMatchObject({
      actual_cost: 0,
      reserved_credits: 2 * PRICE,
    });
    finish();

    const job = await jobIn(gateway, id, 'succeeded');
    expect(job).toMatchObject({ provider: 'one', error: null, usage: { image_count: 2 } });
    expect(job.expires_at).toBe(job.completed_at! + 3_600);
    const texts = await Promise.all(
      job.result!.data.map(async ({ url }) => (await fetch(url)).text()),
    );
    expect(texts).toEqual(['first', 'second']);
    expect(job.result!.data[0]).toMatchObject({ content_type: 'image/png', bytes: 5 });
    expect(JSON.parse(one.submissions[0]!)).toEqual({ ...draw, n: 2, style: 'plain' });
    expect(await listedJob(gateway, id)).toMatchObject({ actual_cost: 2 * PRICE });
    expect(await balance()).toEqual({
      balance: before.balance - 2 * PRICE,
      held: before.held,
    });
    expect(await logsOf(id)).toEqual([
      {
        outcome: 'completed',
        cost: 2 * PRICE,
        vendor_cost: 2 * PRICE,
        endpoint: 'jobs',
        provider: 'one',
      },
    ]);
  });

  it('falls back when the first route rejects it, and is free when all do', async () => {
    one.submit = async () => {
      throw new UpstreamError({ failure: 'server', status: 500, message: 'broken' });
    };
    const { id } = await submitJob(gateway, draw);
    expect(await jobIn(gateway, id, 'succeeded')).toMatchObject({ provider: 'two' });

    two.submit = async () => {
      throw new UpstreamError({ failure: 'operator', status: 401, message: 'no' });
    };
    one.submit = two.submit;
    const { id: second } = await submitJob(gateway, draw);
    const failed = await jobIn(gateway, second, 'failed');
    expect(failed).toMatchObject({ error: { code: 'provider_error' }, result: null });
    expect(await entriesOf(second)).toEqual([]);
    expect(await logsOf(second)).toMatchObject([{ outcome: 'failed', cost: 0, vendor_cost: 0 }]);
  });

  it('records only the vendor cost when the result cannot be downloaded', async () => {
    one.submit = async () => done(broken());
    const { id } = await submitJob(gateway, draw);
    expect(await jobIn(gateway, id, 'failed')).toMatchObject({ result: null });
    expect(await entriesOf(id)).toEqual([]);
    expect(await logsOf(id)).toMatchObject([{ outcome: 'failed', cost: 0, vendor_cost: PRICE }]);
  });

  it('retries temporary failures', async () => {
    let calls = 0;
    const refuse = async () => {
      calls++;
      throw new UpstreamError({ failure: 'rate_limited', status: 429, message: 'slow down' });
    };
    one.submit = refuse;
    two.submit = refuse;
    const { id } = await submitJob(gateway, draw);
    await until(() => calls >= 2);
    one.submit = async () => done();
    expect(await jobIn(gateway, id, 'succeeded', 'failed')).toMatchObject({ status: 'succeeded' });
  });

  it.each([
    ['a reset', new UpstreamError({ failure: 'reset', message: 'gone' })],
    ['a time-out', new UpstreamError({ failure: 'timeout', message: 'late' })],
    ['a 504', new UpstreamError({ failure: 'timeout', status: 504, message: 'lost' })],
  ])('is not sent again after %s, when the vendor may have accepted it', async (_, error) => {
    one.submit = async () => {
      throw error;
    };
    const { id } = await submitJob(gateway, draw);
    expect((await jobIn(gateway, id, 'failed')).error!.message).toContain('unknown whether');
    expect([one.submissions.length, two.submissions.length]).toEqual([1, 0]);
    expect(await entriesOf(id)).toEqual([]);
  });

  it("reports the vendor's objection to its prompt", async () => {
    one.submit = async () => {
      throw new UpstreamError({
        failure: 'caller',
        status: 400,
        message: 'Too big.',
        param: 'size',
      });
    };
    const { id } = await submitJob(gateway, draw);
    const { error } = await jobIn(gateway, id, 'failed');
    expect(error).toEqual({ code: 'invalid_request_error', message: 'Too big.' });
    expect(two.submissions).toEqual([]);
  });

  it("is polled by the vendor's operation id, and survives failed polls", async () => {
    one.submit = async () => ({ state: 'running', operation: 'op-1', pollAfterMs: 10 });
    let polls = 0;
    one.poll = async () => {
      polls++;
      if (polls < 3) throw new UpstreamError({ failure: 'timeout', message: 'late' });
      if (polls < 5) return { state: 'running', operation: 'op-1' };
      return done();
    };
    const { id } = await submitJob(gateway, draw);
    await jobIn(gateway, id, 'succeeded');
    expect([one.submissions.length, one.polls]).toEqual([1, Array(5).fill('op-1')]);

    one.poll = async () => {
      throw new MediaFailedError('moderation_blocked', 'The prompt was refused.');
    };
    const { id: second } = await submitJob(gateway, draw);
    expect((await jobIn(gateway, second, 'failed')).error).toEqual({
      code: 'moderation_blocked',
      message: 'The prompt was refused.',
    });
  });

  it('fails when a finished result never downloads completely', async () => {
    one.submit = async () => ({ state: 'running', operation: 'op-7', pollAfterMs: 10 });
    let fetches = 0;
    one.poll = async () => {
      // Also bounded when the vendor reports `running` again in between.
      if (one.polls.length % 2 === 0) return { state: 'running', operation: 'op-7' };
      fetches++;
      return done(broken());
    };
    const { id } = await submitJob(gateway, draw);
    const { error } = await jobIn(gateway, id, 'failed');
    expect(error!.message).toMatch(/Nothing was charged/);
    expect(fetches).toBe(6);
    expect(await entriesOf(id)).toEqual([]);
    expect(await logsOf(id)).toMatchObject([{ outcome: 'failed', cost: 0, vendor_cost: PRICE }]);
  });

  it('fails at once when the result exceeds the maximum file size', async () => {
    one.submit = async () => ({ state: 'running', operation: 'op-8', pollAfterMs: 10 });
    const piece = Buffer.alloc(1_000_000);
    const bytes = (async function* () {
      for (let size = 0; size <= 50; size++) yield piece;
    })();
    one.poll = async () => done({ contentType: 'image/png', bytes });
    const { id } = await submitJob(gateway, draw);
    expect((await jobIn(gateway, id, 'failed')).error!.message).toMatch(
      /larger than the file limit/,
    );
    expect(one.polls).toEqual(['op-8']);
  });

  it('is not sent again when found without its worker', async () => {
    one.submit = hang;
    const { id } = await submitJob(gateway, draw);
    await jobIn(gateway, id, 'in_progress');
    await change(id, "lease_until = now() - interval '1 second', lease_id = gen_random_uuid()");
    await jobIn(gateway, id, 'failed');
    expect(one.submissions).toHaveLength(1);
    expect(await entriesOf(id)).toEqual([]);
  });

  it('continues after its worker died and its wake-up was lost', async () => {
    one.submit = async () => ({ state: 'running', operation: 'op-2', pollAfterMs: 3_600_000 });
    const { id } = await submitJob(gateway, draw);
    await jobIn(gateway, id, 'in_progress');
    await until(() => one.submissions.length > 0);
    await accepted(id);
    await change(id, "run_at = now() - interval '1 minute'");
    await get(JobWorker).topic.sweep();
    await jobIn(gateway, id, 'succeeded');
    expect(one.polls).toEqual(['op-2']);
  });

  it('runs and is charged once, however often it is woken', async () => {
    one.submit = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return done();
    };
    const { id } = await submitJob(gateway, draw);
    await Promise.all(Array.from({ length: 20 }, () => runRow(get(JobWorker), id)));
    await jobIn(gateway, id, 'succeeded');
    expect(one.submissions).toHaveLength(1);
    expect(await entriesOf(id)).toEqual([['charge', -PRICE]]);
  });

  it('can be cancelled once, also at the vendor', async () => {
    one.submit = async () => ({ state: 'running', operation: 'op-3', pollAfterMs: 3_600_000 });
    const { id } = await submitJob(gateway, draw);
    await until(async () => (await readJob(gateway, id)).provider !== null);
    await accepted(id);
    const first = await gateway.fetch(`/v1/jobs/${id}`, { method: 'DELETE' });
    expect([first.status, await first.json()]).toMatchObject([200, { status: 'cancelled' }]);
    const second = await gateway.fetch(`/v1/images/${id}`, { method: 'DELETE' });
    expect([second.status, await second.json()]).toMatchObject([
      409,
      { error: { type: 'conflict_error', param: 'id' } },
    ]);
    await until(() => one.cancels.length > 0);
    expect(one.cancels).toEqual(['op-3']);
    expect(await entriesOf(id)).toEqual([]);
    expect(await logsOf(id)).toMatchObject([{ outcome: 'cancelled', cost: 0 }]);
  });

  it('aborts the call when cancelled during submission', async () => {
    let aborted = false;
    one.submit = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(new Error('aborted'));
        });
      });
    const { id } = await submitJob(gateway, draw);
    await until(() => one.submissions.length > 0);
    expect((await gateway.fetch(`/v1/jobs/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(aborted).toBe(true);
    expect(await readJob(gateway, id)).toMatchObject({ status: 'cancelled' });
  });

  it('cancels a video at the vendor when cancelled during submission', async () => {
    let take = (): void => undefined;
    one.submit = ({ signal }) =>
      new Promise((resolve, reject) => {
        take = () => resolve({ state: 'running', operation: 'op-6' });
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const { id } = await submitJob(gateway, { model: 'one/film', prompt: 'a lighthouse' });
    await until(() => one.submissions.length > 0);
    expect((await gateway.fetch(`/v1/jobs/${id}`, { method: 'DELETE' })).status).toBe(200);
    take();
    await until(() => one.cancels.length > 0);
    expect(one.cancels).toEqual(['op-6']);
    expect(await entriesOf(id)).toEqual([]);
  });

  it('ends consistently with its charge when cancelled as it succeeds', async () => {
    const winners = new Set<string>();
    for (let round = 0; round < 10; round++) {
      let finish = (): void => undefined;
      one.submit = async () => {
        await new Promise<void>((resolve) => (finish = resolve));
        return done();
      };
      const before = one.submissions.length;
      const { id } = await submitJob(gateway, draw);
      await until(() => one.submissions.length > before);
      finish();
      await new Promise((resolve) => setTimeout(resolve, round % 6));
      const cancelled = await gateway.fetch(`/v1/jobs/${id}`, { method: 'DELETE' });
      const { status } = await jobIn(gateway, id, 'succeeded', 'cancelled');
      winners.add(status);
      expect(cancelled.status).toBe(status === 'cancelled' ? 200 : 409);
      expect(await entriesOf(id)).toEqual(status === 'cancelled' ? [] : [['charge', -PRICE]]);
      expect(await logsOf(id)).toHaveLength(1);
    }
    expect(winners.size).toBeGreaterThan(0);
  });

  it('ends once when several processes try concurrently', async () => {
    one.submit = async () => ({ state: 'running', operation: 'op-4', pollAfterMs: 3_600_000 });
    for (let round = 0; round < 4; round++) {
      const { id } = await submitJob(gateway, draw);
      const job = (await get(JobsRepository).findEndable(gateway.tenantId, id))!;
      const endings = get(JobOutcomes);
      const won = await Promise.all([
        endings.cancel(job),
        endings.fail(job, new Error('x')),
        endings.expire(job),
        endings.cancel(job),
      ]);
      expect(won.filter(Boolean)).toHaveLength(1);
    }
  });

  it('expires at its deadline, free of charge', async () => {
    one.submit = async () => ({ state: 'running', operation: 'op-5', pollAfterMs: 3_600_000 });
    const { id } = await submitJob(gateway, draw);
    await jobIn(gateway, id, 'in_progress');
    await accepted(id);
    await change(id, "deadline_at = now() - interval '1 second'");
    await get(JobSweeper).sweepNow();
    const job = await readJob(gateway, id);
    expect(job).toMatchObject({ status: 'expired', result: null, error: null });
    expect(await listedJob(gateway, id)).toMatchObject({ actual_cost: 0 });
    await until(() => one.cancels.length > 0);
    expect(await entriesOf(id)).toEqual([]);
  });

  it('is refunded once if never downloaded, and otherwise keeps its charge', async () => {
    const before = await balance();
    const [unfetched, fetched] = await Promise.all(
      [draw, draw].map(async (body) =>
        jobIn(gateway, (await submitJob(gateway, body)).id, 'succeeded'),
      ),
    );
    const url = fetched!.result!.data[0]!.url;
    expect((await fetch(url)).status).toBe(200);
    await until(async () => (await balance()).held <= before.held);
    for (const { id } of [unfetched!, fetched!]) {
      await change(id, "expires_at = now() - interval '1 minute'");
      await gateway.database.query(
        "UPDATE job_artifacts SET remove_after = now() - interval '1 minute' WHERE job_id = $1",
        [id],
      );
    }
    await Promise.all([1, 2, 3].map(() => get(JobSweeper).sweepNow()));

    expect(await readJob(gateway, unfetched!.id)).toMatchObject({
      status: 'expired',
      result: null,
    });
    expect(await listedJob(gateway, unfetched!.id)).toMatchObject({
      actual_cost: 0,
      reserved_credits: PRICE,
    });
    expect(await entriesOf(unfetched!.id)).toEqual([
      ['charge', -PRICE],
      ['refund', PRICE],
    ]);
    expect(await readJob(gateway, fetched!.id)).toMatchObject({ status: 'succeeded' });
    expect(await entriesOf(fetched!.id)).toEqual([['charge', -PRICE]]);
    expect((await balance()).balance).toBe(before.balance - PRICE);
    expect((await fetch(url)).status).toBe(410);
  });

  it('removes its files when they expire, and leaves none when it fails', async () => {
    const { rows } = await gateway.database.query<{ left: number }>(
      `SELECT count(*) AS left FROM job_artifacts JOIN jobs ON jobs.id = job_id
       WHERE removed_at IS NULL AND status <> 'succeeded'`,
    );
    expect(rows[0]!.left).toBe(0);
  });

  it('is not delivered when refunded while its file is opened', async () => {
    const { id, result } = await jobIn(gateway, (await submitJob(gateway, draw)).id, 'succeeded');
    const store = get(ArtifactStore);
    const open = store.open.bind(store);
    jest.spyOn(store, 'open').mockImplementationOnce(async (...file) => {
      await change(id, "expires_at = now() - interval '1 minute'");
      await get(JobSweeper).sweepNow();
      return open(...file);
    });
    expect((await fetch(result!.data[0]!.url)).status).toBe(410);
    expect(await readJob(gateway, id)).toMatchObject({ status: 'expired' });
    expect(await entriesOf(id)).toEqual([
      ['charge', -PRICE],
      ['refund', PRICE],
    ]);
  });

  it('counts as open until it ends', async () => {
    const openImages = async (): Promise<number> => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      expect(text).toContain('gateway_jobs_open{modality="video",status="queued"} 0');
      return Number(
        /gateway_jobs_open\{modality="image",status="in_progress"\} (\d+)/.exec(text)![1],
      );
    };
    const before = await openImages();
    one.submit = async () => ({ state: 'running', operation: 'op-6', pollAfterMs: 3_600_000 });
    const { id } = await submitJob(gateway, draw);
    await jobIn(gateway, id, 'in_progress');
    expect(await openImages()).toBe(before + 1);
    await gateway.fetch(`/v1/jobs/${id}`, { method: 'DELETE' });
    expect(await openImages()).toBe(before);
  });

  it('is deleted with its file rows after the log retention, once nothing is pending', async () => {
    const make = async (): Promise<string> => {
      const { id } = await jobIn(gateway, (await submitJob(gateway, draw)).id, 'succeeded');
      return id;
    };
    const [over, withFiles, unrefunded, young] = await Promise.all([
      make(),
      make(),
      make(),
      make(),
    ]);
    for (const id of [over, withFiles, young]) await change(id, 'fetched_at = now()');
    for (const id of [over, unrefunded, young]) {
      await gateway.database.query(
        'UPDATE job_artifacts SET removed_at = now() WHERE job_id = $1',
        [id],
      );
    }
    const longAgo = "completed_at = now() - interval '32 days'";
    for (const id of [over, withFiles, unrefunded]) await change(id, longAgo);
    await change(young, "completed_at = now() - interval '29 days'");
    const sweep = (logRetentionDays: number) =>
      new JobRetentionService(gateway.database, { logRetentionDays }).sweepNow();
    expect(await sweep(0)).toBe(0);
    expect(await sweep(30)).toBe(1);
    expect((await gateway.fetch(`/v1/jobs/${over}`)).status).toBe(404);
    for (const id of [withFiles, unrefunded, young]) {
      expect((await gateway.fetch(`/v1/jobs/${id}`)).status).toBe(200);
    }
    const { rows } = await gateway.database.query('SELECT FROM job_artifacts WHERE job_id = $1', [
      over,
    ]);
    expect(rows).toEqual([]);
  });

  it('is cancelled when its waiting caller disconnects', async () => {
    const answer = await gateway.post('/v1/images/generations', {
      ...draw,
      response_format: 'url',
    });
    const { data } = (await answer.json()) as { data: { url: string }[] };
    expect(answer.headers.get('x-gateway-cost')).toBe(String(PRICE));
    expect(await (await fetch(data[0]!.url)).text()).toBe('a picture');

    const encoded = await gateway.post('/v1/images/generations', draw);
    const body = (await encoded.json()) as { data: { b64_json: string }[] };
    expect(Buffer.from(body.data[0]!.b64_json, 'base64').toString()).toBe('a picture');

    one.submit = async () => {
      throw new UpstreamError({ failure: 'caller', status: 400, message: 'Bad.', param: 'size' });
    };
    const refused = await gateway.post('/v1/images/generations', draw);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { message: 'Bad.', param: 'size' } },
    ]);

    one.submit = hang;
    const sent = one.submissions.length;
    const leaving = new AbortController();
    const left = gateway
      .fetch('/v1/images/generations', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(draw),
        signal: leaving.signal,
      })
      .catch(() => undefined);
    await until(() => one.submissions.length > sent);
    leaving.abort();
    await left;
    const { rows } = await gateway.database.query<{ id: string }>(
      "SELECT id FROM jobs WHERE endpoint = 'images' ORDER BY created_at DESC LIMIT 1",
    );
    await jobIn(gateway, rows[0]!.id, 'cancelled');
  });
});
