import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { loggedRequest } from '../support/logged-request.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const PROVIDERS = '/v1/admin/providers';
const ROUTES = '/v1/admin/routes';
const ECHO = { provider: 'sandbox', model: 'sandbox/echo' };

type Row = Record<string, unknown>;
type Body = Row & { data: Row[]; checks: Row[] };

let database: TestDatabase;
let gateway: BootedGateway;
/** On the same database. */
let other: BootedGateway;

beforeAll(async () => {
  database = await createTestDatabase();
  // Long, so that no pause ends on its own meanwhile.
  const settings = { GATEWAY_COOLDOWN_MS: '60000' };
  gateway = await bootGateway(settings, { database });
  const { apiKey, adminKey } = gateway;
  const same = { ...settings, GATEWAY_BOOTSTRAP_API_KEY: apiKey, GATEWAY_ADMIN_KEY: adminKey };
  other = await bootGateway(same, { database });
});
afterAll(async () => {
  await other.close();
  await gateway.close();
  await database.drop();
});

async function admin(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Body }> {
  const response = await gateway.admin(method, path, body);
  return { status: response.status, body: (await response.json()) as Body };
}

async function ask(at: BootedGateway, model: string, fields: object = {}): Promise<number> {
  const messages = [{ role: 'user', content: 'word' }];
  const response = await at.post('/v1/chat/completions', { model, messages, ...fields });
  await response.text();
  return response.status;
}

const refused = (status: number, param: string) => ({ status, body: { error: { param } } });

describe('GET /v1/admin/instances', () => {
  it('shows every process, its version and its work', async () => {
    // Each readiness check is a heartbeat; the very first one does not report work yet.
    await until(async () => {
      await fetch(`${other.url}/readyz`);
      const { body } = await admin('GET', '/v1/admin/instances');
      return body.data.every(({ pending_settlements }) => pending_settlements !== null);
    });
    const { status, body } = await admin('GET', '/v1/admin/instances');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    expect(body.data).toHaveLength(2);
    expect(body.data.filter(({ is_self }) => is_self === true)).toHaveLength(1);
    for (const instance of body.data) {
      expect(instance).toMatchObject({
        role: 'gateway',
        version: expect.stringMatching(/^\d+\./),
        host: expect.any(String),
        schema: expect.stringMatching(/\d{13}$/),
        secret: expect.any(String),
        catalogue: expect.stringMatching(/^[0-9a-f]{12}$/),
        uptime_seconds: expect.any(Number),
      });
    }
    // Their data folders differ; the oldest instance's one counts as the usual.
    expect(body.data.map(({ differs }) => differs)).toEqual([[], ['artifacts']]);
    expect(body.data.find(({ is_self }) => is_self === false)).toMatchObject({
      requests_in_flight: 0,
      pending_settlements: 0,
      recent: { requests: 0, errors: 0, latency_p50: null, latency_p95: null },
      routes: [],
      more_routes: 0,
      hedging: { requests: 0, hedged: 0, won: 0 },
    });
    expect(body.queue).toContainEqual({
      topic: 'jobs',
      depth: {
        waiting: expect.any(Number),
        delayed: expect.any(Number),
        active: expect.any(Number),
      },
    });
  });

  it('shows opened circuit breakers that processes have shared, by instance and by route', async () => {
    await until(async () => {
      await ask(other, 'sandbox/fault-503');
      // Triggers a heartbeat of each.
      for (const { url } of [gateway, other]) await fetch(`${url}/readyz`);
      const { body } = await admin('GET', '/v1/admin/instances');
      return body.data.every(({ routes }) => (routes as Row[]).length > 0);
    });
    const { body } = await admin('GET', '/v1/admin/instances');
    const open = { provider: 'sandbox', model: 'fault-503', state: 'open' };
    expect(body.data.map(({ routes }) => routes)).toEqual([[open], [open]]);
    const routes = await admin('GET', `${ROUTES}?model=FAULT-503`);
    expect(routes.body.data).toEqual([
      expect.objectContaining({
        model: 'sandbox/fault-503',
        provider: 'sandbox',
        is_configured: true,
        pause: null,
        state: 'open',
        instances: body.data.map(({ id }) => ({ instance_id: id, state: 'open' })),
      }),
    ]);
    // An instance that was notified does not try the route while a better one exists.
    const response = await gateway.post('/v1/chat/completions', {
      models: ['sandbox/fault-503', 'sandbox/echo'],
      messages: [{ role: 'user', content: 'word' }],
    });
    expect(response.status).toBe(200);
    // No list of attempts: one vendor was asked and answered.
    const row = await loggedRequest(database.database, response.headers.get('x-request-id'));
    expect(row).toMatchObject({ model: 'sandbox/echo', attempts: null });
  });
});

describe(ROUTES, () => {
  it('are listed in pages without repeats or gaps', async () => {
    const found: string[] = [];
    let cursor = '';
    for (;;) {
      const { status, body } = await admin('GET', `${ROUTES}?provider=sandbox&limit=7${cursor}`);
      expect(status).toBe(200);
      found.push(...body.data.map(({ model, provider }) => `${String(provider)} ${String(model)}`));
      if (body.has_more !== true) break;
      cursor = `&cursor=${String(body.next_cursor)}`;
    }
    expect(found).toContain('sandbox sandbox/echo');
    expect(new Set(found).size).toBe(found.length);
    expect(found).toEqual([...found].sort());
    const all = await admin('GET', `${ROUTES}?limit=200`);
    expect(all.body.data.some(({ is_configured }) => is_configured === false)).toBe(true);
    expect(await admin('GET', `${ROUTES}?cursor=word`)).toMatchObject(refused(400, 'cursor'));
    expect(await admin('GET', `${ROUTES}?kind=chat`)).toMatchObject(refused(400, 'kind'));
  });

  it('are paused and resumed, on every instance', async () => {
    expect(await ask(other, 'sandbox/echo')).toBe(200);
    const paused = await admin('POST', `${ROUTES}/pause`, { ...ECHO, reason: 'cut short' });
    expect(paused).toMatchObject({
      status: 200,
      body: { ...ECHO, reason: 'cut short', paused_by: 'First admin key', until: null },
    });
    // In effect with the response, here and elsewhere.
    expect(await ask(other, 'sandbox/echo')).toBe(503);
    expect(await ask(gateway, 'sandbox/echo')).toBe(503);
    expect(await ask(other, 'sandbox/words', { max_tokens: 1 })).toBe(200);
    const { body } = await admin('GET', `${ROUTES}?model=sandbox/echo`);
    expect(body.data).toEqual([expect.objectContaining({ pause: paused.body })]);
    const response = await gateway.post('/v1/chat/completions', {
      model: 'sandbox/echo',
      messages: [{ role: 'user', content: 'word' }],
    });
    expect(await response.json()).toMatchObject({
      error: {
        type: 'provider_unavailable',
        message: expect.stringMatching(/operator .* has paused every route to sandbox\/echo/),
      },
    });

    const again = { ...ECHO, reason: 'for a while', until: new Date(Date.now() + 3_600_000) };
    await admin('POST', `${ROUTES}/pause`, again);
    expect((await admin('GET', `${ROUTES}/pauses`)).body.data).toEqual([
      expect.objectContaining({ ...ECHO, reason: 'for a while', until: again.until.toISOString() }),
    ]);
    expect((await admin('POST', `${ROUTES}/resume`, ECHO)).status).toBe(200);
    expect(await ask(gateway, 'sandbox/echo')).toBe(200);
    expect(await ask(other, 'sandbox/echo')).toBe(200);
    for (const model of [ECHO.model, 'a\u0000']) {
      const unknown = { ...ECHO, model };
      expect(await admin('POST', `${ROUTES}/resume`, unknown)).toMatchObject(refused(404, 'model'));
    }

    const { rows } = await database.database.query(
      `SELECT action, target_id, before, after FROM audit_log WHERE target_type = 'route' ORDER BY id`,
    );
    const target_id = 'sandbox sandbox/echo';
    const first = { reason: 'cut short', until: null };
    const second = { reason: 'for a while', until: again.until.toISOString() };
    expect(rows).toEqual([
      { action: 'route.pause', target_id, before: null, after: first },
      { action: 'route.pause', target_id, before: first, after: second },
      { action: 'route.resume', target_id, before: second, after: null },
    ]);
  });

  it('are paused with their whole provider, which is shown, and resume when the time is over', async () => {
    const end = new Date(Date.now() + 1_500);
    const whole = { provider: 'sandbox', reason: 'maintenance', until: end };
    expect((await admin('POST', `${ROUTES}/pause`, whole)).body).toMatchObject({ model: null });
    const { body } = await admin('GET', PROVIDERS);
    expect(body.data).toEqual([
      expect.objectContaining({
        id: 'sandbox',
        status: 'healthy',
        health: expect.objectContaining({ error_rate: 0 }),
        pause: expect.objectContaining({ reason: 'maintenance' }),
        instances: [],
      }),
    ]);
    await until(
      async () => Date.now() > end.getTime() && (await ask(gateway, 'sandbox/echo')) === 200,
    );
    expect((await admin('GET', `${ROUTES}/pauses`)).body.data).toEqual([]);
    expect((await admin('GET', PROVIDERS)).body.data[0]).toMatchObject({ pause: null });
  });

  it.each<[object, string]>([
    [{ reason: 'r' }, 'provider'],
    [{ provider: 'nobody', reason: 'r' }, 'provider'],
    [{ provider: 'sandbox' }, 'reason'],
    [{ provider: 'sandbox', reason: '' }, 'reason'],
    [{ provider: 'sandbox', reason: 'r', model: 'sandbox/nothing' }, 'model'],
    [{ provider: 'sandbox', reason: 'r', model: 5 }, 'model'],
    [{ provider: 'sandbox', reason: 'r', until: '2001-01-01' }, 'until'],
    [{ provider: 'sandbox', reason: 'r', until: 'soon' }, 'until'],
    [{ provider: 'sandbox', reason: 'r', paused_by: 'me' }, 'paused_by'],
  ])('are not paused by %j', async (body, param) => {
    expect(await admin('POST', `${ROUTES}/pause`, body)).toMatchObject(refused(400, param));
  });

  it('learns about pauses despite missed notices, and tolerates invalid rows', async () => {
    await database.database.query(
      `INSERT INTO route_pauses (provider, model, reason, paused_by)
       VALUES ('sandbox', 'sandbox/words', 'by hand \\\\', 'dba')`,
    );
    for (const each of [gateway, other]) {
      await until(async () => (await ask(each, 'sandbox/words')) === 503);
    }
    expect((await admin('GET', `${ROUTES}/pauses`)).body.data[0]).toMatchObject({
      reason: 'by hand \\',
      paused_by: 'dba',
    });
    await admin('POST', `${ROUTES}/resume`, { provider: 'sandbox', model: 'sandbox/words' });
  });
});

describe('GET /v1/admin/routes/history', () => {
  it('adds up the outcomes of calls over all instances', async () => {
    for (const at of [gateway, other]) await ask(at, 'sandbox/echo');
    await ask(gateway, 'sandbox/fault-500');
    const sumsOf = async (model: string) => {
      const { status, body } = await admin('GET', `${ROUTES}/history?hours=1`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ object: 'route_history', step_seconds: 300 });
      const own = body.data.find((each) => each.model === model)?.steps ?? [];
      const sum = (name: string) =>
        (own as Record<string, number>[]).reduce((total, step) => total + step[name]!, 0);
      return { answered: sum('answered'), failed: sum('failed') };
    };
    // Each instance writes its counts every 10 s.
    await until(async () => (await sumsOf('sandbox/echo')).answered >= 2, 40_000);
    await until(async () => (await sumsOf('sandbox/fault-500')).failed >= 1, 40_000);
    expect((await sumsOf('sandbox/echo')).failed).toBe(0);
    expect((await sumsOf('sandbox/fault-500')).answered).toBe(0);
    // Recent figures are a few seconds old.
    await until(async () => {
      const { body } = await admin('GET', `${ROUTES}?model=sandbox/echo`);
      return body.data[0]!.cache_hit_rate === 0;
    });
    const shown = async (path: string) =>
      (await (await other.fetch(path)).json()) as { data: { id: string } & { id: string }[] };
    const { data } = await shown('/v1/models/sandbox/echo/endpoints');
    expect(data).toMatchObject({ endpoints: [{ uptime_last_30m: 100, cache_hit_rate: 0 }] });
    const failing = await shown('/v1/models/sandbox/fault-500/endpoints');
    expect(failing.data).toMatchObject({ endpoints: [{ uptime_last_30m: 0 }] });
    const providers = await shown('/v1/providers');
    expect(providers.data.find(({ id }) => id === 'sandbox')).toMatchObject({
      measured: { uptime: expect.any(Number), throughput: expect.any(Number), cache_hit_rate: 0 },
    });
  }, 90_000);

  it('covers up to a week, in coarser steps', async () => {
    const { body } = await admin('GET', `${ROUTES}/history?hours=168`);
    expect(body).toMatchObject({ step_seconds: 14_400 });
    for (const hours of ['0', '169', '1.5', 'x']) {
      expect(await admin('GET', `${ROUTES}/history?hours=${hours}`)).toMatchObject(
        refused(400, 'hours'),
      );
    }
  });
});

describe('GET /v1/admin/books', () => {
  it('confirms balanced books, with figures and the options', async () => {
    const { status, body } = await admin('GET', '/v1/admin/books');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'sound', checked_at: expect.any(String) });
    expect(body.checks).toHaveLength(7);
    for (const check of body.checks) {
      expect(check).toMatchObject({
        status: 'sound',
        reason: null,
        rows: [],
        has_more_rows: false,
      });
      expect(check.query).toContain('SELECT');
    }
    const { balance, entries } = body.checks[0]!.figures as Record<string, string>;
    expect(balance).toBe(entries);
    expect(Number(balance)).toBeGreaterThan(0);
  });

  it('names broken invariants and the first rows at fault', async () => {
    const spoil = (credits: number) =>
      database.database.query('UPDATE accounts SET balance = balance + $1', [credits]);
    await spoil(5);
    try {
      const { body } = await admin('GET', '/v1/admin/books');
      expect(body.status).toBe('broken');
      expect(body.checks[0]).toMatchObject({
        id: 'balance_is_entries',
        status: 'broken',
        rows: [{ tenant_id: gateway.tenantId }],
      });
      expect(body.checks[1]).toMatchObject({ id: 'held_is_holds', status: 'sound' });
    } finally {
      await spoil(-5);
    }
  });

  it('streams each finding as a line as soon as it is found', async () => {
    const response = await gateway.admin('GET', '/v1/admin/books/progress.jsonl');
    expect(response.status).toBe(200);
    const lines = (await response.text()).trim().split('\n');
    const [begin, ...rest] = lines.map((line) => JSON.parse(line) as Body);
    expect(begin).toMatchObject({ object: 'books.begin', checked_at: expect.any(String) });
    const { invariants } = begin as unknown as { invariants: Row[] };
    expect(rest.pop()).toMatchObject({ object: 'books.end', status: 'sound' });
    expect(rest.map(({ id }) => id)).toEqual(invariants.map(({ id }) => id));
    expect(rest.every(({ object, status }) => object === 'books.check' && status === 'sound')).toBe(
      true,
    );
  });

  it('ends a check whose caller disconnected, and starts another at once', async () => {
    const running = async (): Promise<number> => {
      const { rows } = await database.database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'model-gateway books'`,
      );
      return rows[0]!.count;
    };
    await database.database.query(
      `ALTER TABLE account_months RENAME TO slow_months;
       CREATE VIEW account_months AS
         SELECT slow_months.* FROM pg_sleep(50) AS slept LEFT JOIN slow_months ON true`,
    );
    try {
      const left = new AbortController();
      const response = await fetch(`${gateway.url}/v1/admin/books/progress.jsonl`, {
        headers: { authorization: `Bearer ${gateway.adminKey}` },
        signal: left.signal,
      });
      expect(response.status).toBe(200);
      expect(await running()).toBe(1);
      left.abort();
      await until(async () => (await running()) === 0);
    } finally {
      await database.database.query(
        'DROP VIEW account_months; ALTER TABLE slow_months RENAME TO account_months',
      );
    }
    expect(await admin('GET', '/v1/admin/books')).toMatchObject({ status: 200 });
  });

  it('shares a check between concurrent callers, and runs none while another instance does', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => admin('GET', '/v1/admin/books')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const client = await database.database.pool.connect();
    try {
      await client.query(`SELECT pg_advisory_lock(hashtext('model-gateway books'))`);
      expect(await admin('GET', '/v1/admin/books')).toMatchObject(refused(409, 'books'));
    } finally {
      await client.query(`SELECT pg_advisory_unlock_all()`);
      client.release();
    }
  });
});
