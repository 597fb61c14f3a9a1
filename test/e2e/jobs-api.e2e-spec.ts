import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { JobClaims } from '../../src/features/jobs/job-claims.repository.js';
import type { GalleryJobDto, JobGalleryDto } from '../../src/features/jobs/job-gallery.dto.js';
import { reply, startScriptedServer } from '../contract/scripted-server.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { done, fakeMedia, hang, type FakeMedia } from '../support/fake-media.js';
import { jobIn, listJobs, submitJob } from '../support/job-client.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { writeOperatorFiles } from '../support/operator-files.js';
import { TestBrowser } from '../support/test-browser.js';
import { inOneMinute } from '../support/room-in-minute.js';
import { until } from '../support/until.js';

describe('the paths of jobs', () => {
  let gateway: BootedGateway;
  let files: Awaited<ReturnType<typeof writeOperatorFiles>>;
  let fake: FakeMedia;
  const otherKey = `sk-other-tenant-${'x'.repeat(24)}`;
  const draw = { model: 'one/draw', prompt: 'a lighthouse' };

  beforeAll(async () => {
    files = await writeOperatorFiles({ one: 'http://127.0.0.1:9/v1' }, [
      {
        id: 'one/draw',
        kind: 'image',
        context_length: 100,
        architecture: {
          modality: 'text->image',
          input_modalities: ['text'],
          output_modalities: ['image'],
          tokenizer: 'none',
        },
        pricing: { prompt: '0', completion: '0', image: '0.04' },
      },
    ]);
    gateway = await bootGateway({
      ...files.environment,
      GATEWAY_JOB_POLL_MS: '20',
      GATEWAY_DRAIN_SECONDS: '2',
      GATEWAY_JOB_CONCURRENCY: '1',
      GATEWAY_MAX_OPEN_JOBS_PER_TENANT: '40',
      GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
    });
    fake = fakeMedia(gateway, 'one');
    await gateway.database.query(
      `WITH tenant AS (INSERT INTO tenants (name) VALUES ('other') RETURNING id)
       INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
       SELECT id, 'routing', 'other', sha256($1::bytea), 'sk-other', 600 FROM tenant`,
      [Buffer.from(otherKey)],
    );
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
    await files.remove();
  });

  const asOther = { authorization: `Bearer ${otherKey}` };
  const errorOf = async (response: Response): Promise<[number, string, string]> => {
    const { error } = (await response.json()) as { error: { type: string; param: string } };
    return [response.status, error.type, error.param];
  };
  const countJobs = async (): Promise<number> => {
    const { rows } = await gateway.database.query<{ count: number }>('SELECT count(*) FROM jobs');
    return rows[0]!.count;
  };

  it.each<[string, unknown, number, string]>([
    ['no model', { prompt: 'x' }, 400, 'model'],
    ['a model without its provider', { ...draw, model: 'draw' }, 400, 'model'],
    ['an unknown model', { ...draw, model: 'one/nothing' }, 404, 'model'],
    ['an unknown model in a list', { prompt: 'x', models: ['one/nothing'] }, 404, 'models'],
    ['a chat model', { ...draw, model: 'sandbox/echo' }, 400, 'model'],
    ['a model of embeddings', { ...draw, model: 'sandbox/embed' }, 400, 'model'],
    ['a fallback of another kind', { ...draw, models: ['sandbox/video'] }, 400, 'models'],
    ['no prompt', { model: 'one/draw' }, 400, 'prompt'],
    ['a null prompt', { model: 'one/draw', prompt: null }, 400, 'prompt'],
    ['an empty prompt', { model: 'one/draw', prompt: '' }, 400, 'prompt'],
    ['a blank prompt', { model: 'one/draw', prompt: ' \n' }, 400, 'prompt'],
    ['a prompt that is no text', { model: 'one/draw', prompt: ['x'] }, 400, 'prompt'],
    ['a prompt over the limit', { model: 'one/draw', prompt: 'é'.repeat(101) }, 400, 'prompt'],
    ['prompt and input', { ...draw, input: 'x' }, 400, 'input'],
    ['no input for speech', { model: 'sandbox/speech' }, 400, 'input'],
    ['no picture', { ...draw, n: 0 }, 400, 'n'],
    ['too many pictures', { ...draw, n: 11 }, 400, 'n'],
    ['half a picture', { ...draw, n: 1.5 }, 400, 'n'],
    [
      'seconds that are none',
      { model: 'sandbox/video', prompt: 'x', seconds: 'long' },
      400,
      'seconds',
    ],
    ['too many seconds', { model: 'sandbox/video', prompt: 'x', seconds: '61' }, 400, 'seconds'],
    ['metadata that is no text', { ...draw, metadata: { a: 1 } }, 400, 'metadata.a'],
    ['metadata of a list', { ...draw, metadata: [] }, 400, 'metadata'],
    ['a webhook that is no URL', { ...draw, webhook_url: 'nowhere' }, 400, 'webhook_url'],
    ['a webhook of another scheme', { ...draw, webhook_url: 'file:///x' }, 400, 'webhook_url'],
    [
      'a speech format',
      { model: 'sandbox/speech', input: 'x', response_format: 'midi' },
      400,
      'response_format',
    ],
    ['a file of the vendor account', { ...draw, file_id: 'file-1' }, 400, 'file_id'],
    ['an unknown route', { ...draw, route: 'scenic' }, 400, 'route'],
    ['no provider left', { ...draw, provider: { only: ['two'] } }, 404, 'provider'],
    ['no JSON', '{"model"', 400, 'body'],
    ['an empty body', '', 400, 'body'],
    ['a body of null', 'null', 400, 'body'],
    ['a body of a list', [draw], 400, 'body'],
    ['a stream', { ...draw, stream: true }, 400, 'stream'],
    ['much metadata', { ...draw, metadata: { a: 'x'.repeat(100_000) } }, 400, 'metadata.a'],
    [
      'many metadata',
      { ...draw, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, 'x'])) },
      400,
      'metadata',
    ],
    ['a number of text', { ...draw, n: '2' }, 400, 'n'],
    ['a webhook with a password', { ...draw, webhook_url: 'https://a:b@c.de' }, 400, 'webhook_url'],
    [
      'credits that do not reach',
      { ...draw, model: 'sandbox/video', seconds: 60, models: [] },
      402,
      'credits',
    ],
  ])('refuse %s', async (_name, body, status, param) => {
    if (status === 402) await gateway.database.query('UPDATE accounts SET held = balance');
    const before = await countJobs();
    const [gotStatus, , gotParam] = await errorOf(await gateway.post('/v1/jobs', body));
    if (status === 402) await gateway.database.query('UPDATE accounts SET held = 0');
    expect([gotStatus, gotParam]).toEqual([status, param]);
    expect(await countJobs()).toBe(before);
  });

  it.each([
    '/v1/jobs/img_000000000000000000000000000000000000',
    '/v1/jobs/nothing',
    '/v1/jobs/img_%00',
    "/v1/jobs/img_' OR 1=1",
    '/v1/images/vid_000000000000000000000000000000000000',
    '/api/v1/videos/vid_000000000000000000000000000000000000',
  ])('know nothing of %s', async (path) => {
    for (const method of ['GET', 'DELETE']) {
      const response = await gateway.fetch(encodeURI(decodeURI(path)), { method });
      expect(await errorOf(response)).toEqual([404, 'not_found_error', 'id']);
    }
  });

  it('show a job to its tenant alone, and under the paths of its modality alone', async () => {
    const { id } = await submitJob(gateway, draw);
    await jobIn(gateway, id, 'succeeded');
    for (const path of [`/v1/jobs/${id}`, `/v1/images/${id}`, `/api/v1/jobs/${id}`]) {
      expect((await gateway.fetch(path)).status).toBe(200);
      expect((await gateway.fetch(path, { headers: asOther })).status).toBe(404);
    }
    expect((await gateway.fetch(`/v1/videos/${id}`)).status).toBe(404);
    const cancelled = await gateway.fetch(`/v1/jobs/${id}`, { method: 'DELETE', headers: asOther });
    expect(cancelled.status).toBe(404);
    const list = await gateway.fetch('/v1/customer/jobs', { headers: asOther });
    expect(await list.json()).toEqual({
      jobs: [],
      pagination: { offset: 0, limit: 50, has_more: false },
    });
    const unknown = await fetch(`${gateway.url}/v1/jobs/${id}`);
    expect(unknown.status).toBe(401);
    const management = await gateway.fetch(`/v1/jobs/${id}`, {
      headers: { authorization: `Bearer ${gateway.managementKey}` },
    });
    expect(management.status).toBe(403);
  });

  it('count a submission against the rate limit, and reading not', async () => {
    const [left, then] = await inOneMinute(async () => {
      const response = await gateway.post('/v1/jobs', draw);
      const { id } = (await response.json()) as { id: string };
      expect((await gateway.fetch(`/v1/jobs/${id}`)).headers.get('x-ratelimit-limit')).toBeNull();
      const next = await gateway.post('/v1/jobs', draw);
      return [response, next].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    });
    expect(then).toBe(left! - 1);
  });

  describe('with an idempotency key', () => {
    const key = (name: string): Record<string, string> => ({ 'idempotency-key': name });

    it('make one job of equal requests, also of those that come at the same time', async () => {
      const body = { ...draw, prompt: 'made once' };
      const jobs = await Promise.all(
        Array.from({ length: 30 }, () => submitJob(gateway, body, key('same'))),
      );
      const ids = new Set(jobs.map(({ id }) => id));
      expect(ids.size).toBe(1);
      await jobIn(gateway, jobs[0]!.id, 'succeeded');
      expect(await submitJob(gateway, body, key('same'))).toMatchObject({
        id: jobs[0]!.id,
        status: 'succeeded',
      });
      const sent = fake.submissions.filter((submission) => submission.includes('made once'));
      expect(sent).toHaveLength(1);
    });

    it('refuse another body, and keep tenants apart', async () => {
      await submitJob(gateway, draw, key('mine'));
      const other = { ...draw, prompt: 'a ship' };
      expect(await errorOf(await gateway.post('/v1/jobs', other, key('mine')))).toEqual([
        409,
        'conflict_error',
        'idempotency-key',
      ]);
      // The other tenant has no credits, and so gets further than the key.
      const foreign = await gateway.post('/v1/jobs', draw, { ...key('mine'), ...asOther });
      expect(foreign.status).toBe(402);
    });

    it.each([0, 256, 10_000])('refuse one of %d characters', async (length) => {
      const response = await gateway.post('/v1/jobs', draw, key('k'.repeat(length)));
      expect(await errorOf(response)).toEqual([400, 'invalid_request_error', 'idempotency-key']);
    });

    it('hold credits once for requests that come at the same time', async () => {
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      fake.submit = async () => {
        await finished;
        return done();
      };
      const jobs = await Promise.all(
        Array.from({ length: 10 }, () => submitJob(gateway, draw, key('held once'))),
      );
      // Those that are no job's would still belong to this process.
      const { rows } = await gateway.database.query(
        `SELECT idempotency_key FROM holds LEFT JOIN jobs USING (request_id)
         WHERE idempotency_key = 'held once' OR instance_id IS NOT NULL`,
      );
      expect(rows).toEqual([{ idempotency_key: 'held once' }]);
      finish();
      fake.submit = async () => done();
      await jobIn(gateway, jobs[0]!.id, 'succeeded');
    });
  });

  describe('of a tenant that has many', () => {
    const noneOpen = () =>
      until(async () => {
        const { rows } = await gateway.database.query(
          "SELECT FROM jobs WHERE status IN ('queued', 'in_progress')",
        );
        return rows.length === 0;
      });

    it('are refused beyond the limit, also when they come at the same time', async () => {
      await noneOpen();
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      fake.submit = async () => {
        await finished;
        return done();
      };
      const responses = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          // Some take the way of those with a key, which set credits aside later.
          gateway.post(
            '/v1/jobs',
            draw,
            index % 3 === 0 ? { 'idempotency-key': `many ${index}` } : {},
          ),
        ),
      );
      const refused = responses.filter(({ status }) => status === 429);
      expect(responses.filter(({ status }) => status === 202)).toHaveLength(40);
      expect(refused).toHaveLength(20);
      expect(await errorOf(refused[0]!)).toEqual([429, 'rate_limit_error', 'max_open_jobs']);
      expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
      const { rows } = await gateway.database.query('SELECT FROM holds');
      expect(rows).toHaveLength(40);
      finish();
      fake.submit = async () => done();
      await noneOpen();
      expect((await gateway.post('/v1/jobs', draw)).status).toBe(202);
    });

    it('wait for one turn of another tenant’s single job', async () => {
      await noneOpen();
      await gateway.database.query(
        `WITH tenant AS (SELECT tenant_id FROM api_keys WHERE key_hash = sha256($1::bytea)),
           entry AS (INSERT INTO ledger_entries (tenant_id, kind, amount)
             SELECT tenant_id, 'grant', 1000000 FROM tenant)
         INSERT INTO accounts (tenant_id, balance, granted)
         SELECT tenant_id, 1000000, 1000000 FROM tenant
         ON CONFLICT (tenant_id) DO UPDATE SET balance = 1000000, granted = 1000000`,
        [Buffer.from(otherKey)],
      );
      const order: string[] = [];
      const finishers: (() => void)[] = [];
      fake.submit = async ({ request }) => {
        order.push(request.kind === 'image' ? request.prompt : '');
        await new Promise<void>((resolve) => finishers.push(resolve));
        return done();
      };
      // Soon after the first look at a job, it waits for a slot.
      const claims = gateway.gateway.application.get(JobClaims, { strict: false });
      const looks = new Set<string>();
      const peek = jest.spyOn(claims, 'peek').mockImplementation(async (id) => {
        const due = await JobClaims.prototype.peek.call(claims, id);
        setImmediate(() => looks.add(id));
        return due;
      });
      await Promise.all(
        Array.from({ length: 30 }, () => submitJob(gateway, { ...draw, prompt: 'greedy' })),
      );
      await until(() => Promise.resolve(finishers.length === 1));
      const { id } = await submitJob(gateway, { ...draw, prompt: 'modest' }, asOther);
      // It waits for the one place, as most of the others do.
      await until(() => looks.has(id));
      fake.submit = ({ request }) => {
        order.push(request.kind === 'image' ? request.prompt : '');
        return Promise.resolve(done());
      };
      finishers[0]!();
      await until(async () => {
        const response = await gateway.fetch(`/v1/jobs/${id}`, { headers: asOther });
        return ((await response.json()) as { status: string }).status === 'succeeded';
      });
      peek.mockRestore();
      expect(order.indexOf('modest')).toBeLessThanOrEqual(2);
      await noneOpen();
    });
  });

  it('hand fields that the gateway does not know on to the vendor', async () => {
    const { id } = await submitJob(gateway, { ...draw, prompt: 'fields', 'x-own': { deep: [1] } });
    await jobIn(gateway, id, 'succeeded');
    const sent = fake.submissions.find((submission) => submission.includes('fields'))!;
    expect(JSON.parse(sent)).toEqual({ ...draw, prompt: 'fields', 'x-own': { deep: [1] } });
  });

  it('take no webhook at private addresses, unless they are allowed', async () => {
    const strict = await bootGateway();
    try {
      for (const webhook_url of [
        'http://127.0.0.1/hook',
        'http://localhost:9/hook',
        'http://10.0.0.1/hook',
        'http://169.254.169.254/latest',
        'http://[::1]/hook',
        'http://0x7f000001/hook',
      ]) {
        const body = { model: 'sandbox/image', prompt: 'x', webhook_url };
        const [status, , param] = await errorOf(await strict.post('/v1/jobs', body));
        expect([webhook_url, status, param]).toEqual([webhook_url, 400, 'webhook_url']);
      }
    } finally {
      await strict.close();
    }
  });

  describe('of the list', () => {
    it.each([
      'limit=0',
      'limit=201',
      'limit=1e1',
      'limit=',
      'offset=-1',
      'status=done',
      'modality=text',
      'start_date=yesterday',
      'end_date=2026-02-30',
      'model=',
      'page=2',
    ])('refuse %s', async (query) => {
      const [status, , param] = await errorOf(await gateway.fetch(`/v1/customer/jobs?${query}`));
      expect([status, param]).toEqual([400, query.split('=')[0]]);
    });

    it('filter and page', async () => {
      const { rows } = await gateway.database.query<{ id: string }>(
        `INSERT INTO jobs (id, tenant_id, api_key_id, request_id, endpoint, modality, model, status,
           body, routes, flagged, body_hash, reserved_credits, created_at, deadline_at, expires_at)
         SELECT CASE WHEN n % 2 = 0 THEN 'img_' ELSE 'vid_' END || lpad(n::text, 36, '0'), $1,
           gen_random_uuid(), gen_random_uuid(), 'jobs',
           CASE WHEN n % 2 = 0 THEN 'image' ELSE 'video' END,
           CASE WHEN n % 3 = 0 THEN 'one/a' ELSE 'one/b' END,
           CASE WHEN n % 5 = 0 THEN 'failed' ELSE 'cancelled' END, '{}', '[]', false, '', 1,
           '2020-01-01T00:00:00Z'::timestamptz + n * interval '1 hour', now(), now()
         FROM generate_series(0, 239) AS n RETURNING id`,
        [gateway.tenantId],
      );
      expect(rows).toHaveLength(240);
      const count = async (query: string): Promise<number> => {
        const end = query.includes('end_date') ? '' : '&end_date=2020-12-31';
        const { jobs } = await listJobs(gateway, `?limit=200${end}&${query}`);
        return jobs.length;
      };
      expect(await count('modality=image')).toBe(120);
      expect(await count('modality=audio')).toBe(0);
      expect(await count('model=one/a')).toBe(80);
      expect(await count('status=failed')).toBe(48);
      expect(await count('status=failed&model=one/a&modality=image')).toBe(8);
      expect(await count('start_date=2020-01-02&end_date=2020-01-02')).toBe(24);
      expect(await count('start_date=2020-01-02T12:00:00Z&end_date=2020-01-02')).toBe(12);

      const page = await listJobs(gateway, '?end_date=2020-12-31&limit=100&offset=140');
      expect(page.jobs).toHaveLength(100);
      expect(page.pagination).toEqual({ offset: 140, limit: 100, has_more: false });
      const first = await listJobs(gateway, '?end_date=2020-12-31&limit=100&offset=139');
      expect(first.pagination.has_more).toBe(true);
      expect(first.jobs.slice(1)).toEqual(page.jobs.slice(0, 99));
      const times = page.jobs.map(({ created_at }) => String(created_at));
      expect(times).toEqual([...times].sort().reverse());

      const found: string[] = [];
      for (let cursor = ''; ;) {
        const query = `end_date=2020-12-31&modality=image&limit=50${cursor}`;
        const answer = await gateway.fetch(`/v1/customer/jobs/gallery?${query}`);
        const { data, next_cursor: next } = (await answer.json()) as JobGalleryDto;
        found.push(...data.map(({ id }) => id));
        expect(data.every(({ object, result }) => object === 'image_job' && !result)).toBe(true);
        if (next === null) break;
        cursor = `&cursor=${next}`;
      }
      const images = rows.map(({ id }) => id).filter((id) => id.startsWith('img_'));
      expect(found).toEqual(images.sort().reverse());
    });

    it.each(['cursor=x', 'limit=0', 'status=done', 'offset=1'])(
      'refuse %s of the gallery',
      async (query) => {
        const answer = await gateway.fetch(`/v1/customer/jobs/gallery?${query}`);
        const [status, , param] = await errorOf(answer);
        expect([status, param]).toEqual([400, query.split('=')[0]]);
      },
    );
  });

  describe('for people who are logged in', () => {
    /** What the session of a key asks. */
    const browse = async (
      key: string,
    ): Promise<(path: string, method?: string) => Promise<Response>> => {
      const browser = new TestBrowser();
      const opened = await browser.fetch(`${gateway.url}/v1/auth/key`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ key }),
      });
      const { csrf_token: token } = (await opened.json()) as { csrf_token: string };
      const headers = {
        'x-csrf-token': token,
        'x-gateway-tenant': gateway.tenantId,
        'sec-fetch-site': 'same-origin',
      };
      return (path, method = 'GET') => browser.fetch(gateway.url + path, { method, headers });
    };

    it('show files to members, and none to operators', async () => {
      fake.submit = async () => done();
      const { id } = await submitJob(gateway, draw);
      await jobIn(gateway, id, 'succeeded');
      const path = `/v1/customer/jobs/${id}`;
      const member = await browse(gateway.managementKey);
      const job = (await (await member(path)).json()) as GalleryJobDto;
      const [shown] = job.result!.data;
      expect((await fetch(shown!.url!)).status).toBe(200);
      expect(job).toMatchObject({ reserved_credits: 40_000, actual_cost: 40_000 });

      const operator = await browse(gateway.adminKey);
      const hidden = { ...shown, url: null };
      expect(await (await operator(path)).json()).toEqual({ ...job, result: { data: [hidden] } });
      const listed = (await (
        await operator('/v1/customer/jobs/gallery?limit=1')
      ).json()) as JobGalleryDto;
      expect(listed.data).toMatchObject([{ id, result: { data: [hidden] } }]);
      const none = await member(`/v1/customer/jobs/img_${'f'.repeat(36)}`);
      expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('no job')]);
    });

    it('are cancelled by them once, and cost nothing', async () => {
      fake.submit = hang;
      const { id } = await submitJob(gateway, draw);
      await jobIn(gateway, id, 'in_progress');
      const member = await browse(gateway.managementKey);
      const open = (await (await member(`/v1/customer/jobs/${id}`)).json()) as GalleryJobDto;
      expect(open.deadline_at).toBeGreaterThan(open.created_at);
      const answers = await Promise.all(
        [1, 2].map(() => member(`/v1/customer/jobs/${id}`, 'DELETE')),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const ended = (await (await member(`/v1/customer/jobs/${id}`)).json()) as GalleryJobDto;
      expect(ended).toMatchObject({ status: 'cancelled', actual_cost: 0, deadline_at: null });
      const { rows } = await gateway.database.query(
        'SELECT action, actor_kind, before, after FROM audit_log WHERE target_id = $1',
        [id],
      );
      expect(rows).toEqual([
        {
          action: 'job.cancel',
          actor_kind: 'api_key',
          before: { status: 'in_progress' },
          after: { status: 'cancelled' },
        },
      ]);
      fake.submit = async () => done();
    });
  });

  it('tell a webhook once of the end', async () => {
    const receiver = await startScriptedServer(reply(200, {}, Buffer.alloc(0)));
    try {
      fake.submit = async () => done();
      const { id } = await submitJob(gateway, {
        ...draw,
        webhook_url: `${receiver.origin}/hook`,
      });
      await until(() => receiver.calls.length > 0);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(receiver.calls).toHaveLength(1);
      const { type, data } = JSON.parse(receiver.calls[0]!.body.toString()) as {
        type: string;
        data: { id: string; status: string; result: { data: { url: string }[] } };
      };
      expect([type, data.id, data.status]).toEqual(['job.succeeded', id, 'succeeded']);
      expect((await fetch(data.result.data[0]!.url)).status).toBe(200);
      expect(receiver.calls[0]!.headers['x-gateway-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);

      const film = { model: 'sandbox/video', prompt: 'x', webhook_url: `${receiver.origin}/hook` };
      const video = (await (await gateway.post('/v1/videos', film)).json()) as { id: string };
      await gateway
        .fetch(`/v1/videos/${video.id}`, { method: 'DELETE' })
        .then((gone) => gone.text());
      // Deleted or not, its end is told.
      await until(() => receiver.calls.length === 2);
      expect(receiver.calls[1]!.body.toString()).toContain(video.id);
      const listed = await listJobs(gateway, '?modality=video&limit=1');
      expect(listed.jobs).toMatchObject([{ id: video.id, status: 'cancelled' }]);
    } finally {
      await receiver.close();
    }
  });
});
