import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { answeredAsBeforeMs } from '../support/logged-request.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const TENANTS = '/v1/admin/tenants';
const CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'word' }] };

type Body = Record<string, unknown> & { data: Record<string, unknown>[] };
interface Answer {
  status: number;
  body: Body;
}

let database: TestDatabase;
let gateway: BootedGateway;
/** On the same database. */
let other: BootedGateway;

beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await bootGateway({}, { database });
  const { apiKey, adminKey } = gateway;
  const same = { GATEWAY_BOOTSTRAP_API_KEY: apiKey, GATEWAY_ADMIN_KEY: adminKey };
  other = await bootGateway(same, { database });
});
afterAll(async () => {
  await other.close();
  await gateway.close();
  await database.drop();
});

async function call(
  method: string,
  path: string,
  body?: unknown,
  { key = gateway.adminKey, at = gateway.url, headers = {} } = {},
): Promise<Answer> {
  const response = await fetch(at + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

interface Made {
  id: string;
  path: string;
  routing: string;
  management: string;
}

async function makeTenant(fields: object = {}): Promise<Made> {
  const name = `tenant ${randomUUID()}`;
  const keys = ['routing', 'management'];
  const { status, body } = await call('POST', TENANTS, {
    name,
    credits: 1_000_000,
    keys,
    ...fields,
  });
  expect(status).toBe(201);
  const [routing, management] = body.keys as { key: string }[];
  const id = String(body.id);
  return { id, path: `${TENANTS}/${id}`, routing: routing!.key, management: management!.key };
}

async function audited(tenantId: string): Promise<string[]> {
  const { rows } = await database.database.query<{ action: string; actor: string }>(
    `SELECT action, actor_kind AS actor FROM audit_log WHERE tenant_id = $1 ORDER BY id`,
    [tenantId],
  );
  return rows.map(({ action, actor }) => `${actor} ${action}`);
}

const refused = (status: number, param: string) => ({ status, body: { error: { param } } });

describe(TENANTS, () => {
  it('creates a tenant with credits and working keys, shown once', async () => {
    const { id, path, routing, management } = await makeTenant({
      memo: 'a start',
      monthly_spend_limit: 500_000,
    });
    expect((await call('POST', '/v1/chat/completions', CHAT, { key: routing })).status).toBe(200);
    const { rows } = await database.database.query<{ cost: number }>(
      'SELECT cost FROM request_logs WHERE tenant_id = $1',
      [id],
    );
    const { cost } = rows[0]!;
    expect(cost).toBeGreaterThan(0);
    expect(
      (await call('GET', '/v1/customer/credits', undefined, { key: management })).body,
    ).toMatchObject({
      balance: { total: 1_000_000 - cost },
      quotas: { monthly_spend_limit: 500_000 },
    });
    const { body } = await call('GET', path);
    expect(body).toMatchObject({
      id,
      status: 'active',
      balance: 1_000_000 - cost,
      available: 1_000_000 - cost,
      spent: cost,
      spent_this_month: cost,
      request_count: 1,
      key_count: 2,
      monthly_spend_limit: 500_000,
      suspended_at: null,
    });
    expect(JSON.stringify(body)).not.toContain(routing);
    expect(await audited(id)).toEqual([
      'admin_key tenant.create',
      'admin_key ledger.grant',
      'admin_key api_key.create',
      'admin_key api_key.create',
    ]);
  });

  it.each<[object, string]>([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'n', credits: -1 }, 'credits'],
    [{ name: 'n', credits: 1.5 }, 'credits'],
    [{ name: 'n', keys: ['admin'] }, 'keys'],
    [{ name: 'n', keys: Array.from({ length: 11 }, () => 'routing') }, 'keys'],
    [{ name: 'n', monthly_spend_limit: '5' }, 'monthly_spend_limit'],
    [{ name: 'n', memo: '' }, 'memo'],
    [{ name: 'n', status: 'active' }, 'status'],
  ])('rejects %j', async (body, param) => {
    expect(await call('POST', TENANTS, body)).toMatchObject(refused(400, param));
  });

  it('rejects duplicate names, also concurrently', async () => {
    const name = `twin ${randomUUID()}`;
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', TENANTS, { name })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const { path } = await makeTenant();
    expect(await call('PATCH', path, { name })).toMatchObject(refused(409, 'name'));
  });

  it('is searched, sorted and paged without repeats or gaps', async () => {
    const word = `Pages%_${randomUUID()}`;
    const made: string[] = [];
    for (const [index, credits] of [30, 10, 0, 20, 10].entries()) {
      const body = { name: `${word} ${index}`, credits };
      made.push(String((await call('POST', TENANTS, body)).body.id));
    }
    const read = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      let cursor = '';
      for (;;) {
        const search = encodeURIComponent(word.toLowerCase());
        const { status, body } = await call(
          'GET',
          `${TENANTS}?limit=2&search=${search}&${query}${cursor}`,
        );
        expect(status).toBe(200);
        expect(body.data.length).toBeLessThanOrEqual(2);
        found.push(...body.data.map(({ id }) => String(id)));
        if (body.has_more !== true) return found.map((id) => String(made.indexOf(id)));
        cursor = `&cursor=${String(body.next_cursor)}`;
      }
    };
    expect(await read('')).toEqual(['4', '3', '2', '1', '0']);
    expect(await read('sort=name&order=asc')).toEqual(['0', '1', '2', '3', '4']);
    const byBalance = await read('sort=balance');
    expect([byBalance[0], byBalance[1], byBalance[4]]).toEqual(['0', '3', '2']);
    expect(new Set(byBalance).size).toBe(5);
    await call('PATCH', `${TENANTS}/${made[1]}`, { status: 'suspended' });
    expect(await read('status=suspended')).toEqual(['1']);
    expect(await read('status=active')).toEqual(['4', '3', '2', '0']);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['sort=id', 'sort'],
    ['order=up', 'order'],
    ['status=gone', 'status'],
    ['cursor=word', 'cursor'],
    ['sort=balance&cursor=WyJhIiwiYiJd', 'cursor'],
    ['page=2', 'page'],
  ])('rejects the query %s', async (query, param) => {
    expect(await call('GET', `${TENANTS}?${query}`)).toMatchObject(refused(400, param));
  });

  it('returns 404 for an unknown tenant or key in every operation', async () => {
    const { path } = await makeTenant();
    for (const id of [randomUUID(), 'word']) {
      const unknown = `${TENANTS}/${id}`;
      for (const [method, at, body] of [
        ['GET', unknown],
        ['PATCH', unknown, { name: 'n' }],
        ['DELETE', unknown],
        ['POST', `${unknown}/grants`, { credits: 1 }],
        ['POST', `${unknown}/corrections`, { credits: 1 }],
        ['GET', `${unknown}/entries`],
        ['GET', `${unknown}/api-keys`],
        ['POST', `${unknown}/api-keys`, { name: 'n' }],
      ] as const) {
        expect(await call(method, at, body)).toMatchObject(refused(404, 'tenant_id'));
      }
      for (const [method, body] of [['GET'], ['PATCH', { name: 'n' }], ['DELETE']] as const) {
        const answer = await call(method, `${path}/api-keys/${id}`, body);
        expect(answer).toMatchObject(refused(404, 'key_id'));
      }
    }
  });
});

describe('a suspended tenant', () => {
  it('can only read, within a second, on every instance, until it is resumed', async () => {
    const { id, path, routing, management } = await makeTenant();
    const ask = (at: string) => call('POST', '/v1/chat/completions', CHAT, { key: routing, at });
    for (const { url } of [gateway, other]) expect((await ask(url)).status).toBe(200);

    const suspended = await call('PATCH', path, { status: 'suspended' });
    const suspendedAt = new Date();
    expect(suspended.body).toMatchObject({ status: 'suspended' });
    for (const { url } of [gateway, other]) {
      await until(async () => (await ask(url)).status === 403);
      expect(await ask(url)).toMatchObject({
        status: 403,
        body: { error: { type: 'permission_error', param: 'tenant' } },
      });
      const write = { name: 'n' };
      for (const key of [routing, management]) {
        const options = { key, at: url };
        expect((await call('POST', '/v1/customer/api-keys', write, options)).status).toBe(403);
        expect((await call('GET', '/v1/customer/credits', undefined, options)).status).toBe(200);
      }
    }
    const its = `tenant_id = '${id}'`;
    expect(await answeredAsBeforeMs(database.database, suspendedAt, its)).toBeLessThan(1_000);
    // A repetition changes nothing and is not audited again.
    await call('PATCH', path, { status: 'suspended' });
    await call('PATCH', path, { status: 'active', name: `resumed ${id}` });
    for (const { url } of [gateway, other])
      await until(async () => (await ask(url)).status === 200);
    expect((await audited(id)).slice(4)).toEqual([
      'admin_key tenant.update',
      'admin_key tenant.update',
    ]);
    const { rows } = await database.database.query(
      `SELECT before, after FROM audit_log WHERE tenant_id = $1 AND action = 'tenant.update' ORDER BY id`,
      [id],
    );
    expect(rows).toMatchObject([
      { before: { status: 'active' }, after: { status: 'suspended' } },
      {
        before: { status: 'suspended', name: expect.stringMatching(/^tenant /) },
        after: { status: 'active', name: `resumed ${id}` },
      },
    ]);
  });

  it('gets a running answer to its end, and pays for it', async () => {
    const { path, routing } = await makeTenant();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${routing}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/words',
        stream: true,
        messages: [{ role: 'user', content: '20000' }],
      }),
    });
    expect(response.status).toBe(200);
    await call('PATCH', path, { status: 'suspended' });
    expect(await response.text()).toContain('[DONE]');
    const { body } = await call('GET', `${path}`);
    expect(body).toMatchObject({ status: 'suspended', held: 0, request_count: 1 });
    expect(Number(body.spent)).toBeGreaterThan(20_000);
  });
});

describe('grants and corrections', () => {
  it('are entries with a memo that change only the balance', async () => {
    const { id, path, management } = await makeTenant({ credits: 100 });
    const granted = await call('POST', `${path}/grants`, { credits: 50, memo: 'invoice 7' });
    expect(granted).toMatchObject({
      status: 201,
      body: { kind: 'grant', amount: 50, memo: 'invoice 7', request_id: null },
    });
    const corrected = await call('POST', `${path}/corrections`, { credits: -30 });
    expect(corrected).toMatchObject({ status: 201, body: { kind: 'correction', amount: -30 } });
    expect(await call('POST', `${path}/corrections`, { credits: -121 })).toMatchObject(
      refused(409, 'credits'),
    );
    expect((await call('GET', path)).body).toMatchObject({ balance: 120, spent: 0 });

    const list = await call('GET', `${path}/entries?limit=2`);
    expect(list.body).toMatchObject({ object: 'list', has_more: true });
    expect(list.body.data).toEqual([corrected.body, granted.body]);
    const next = await call('GET', `${path}/entries?cursor=${String(list.body.next_cursor)}`);
    expect(next.body).toMatchObject({ has_more: false, data: [{ kind: 'grant', amount: 100 }] });
    const grants = await call('GET', `${path}/entries?kind=correction`);
    expect(grants.body.data).toEqual([corrected.body]);

    const month = new Date().toISOString().slice(0, 7);
    const statement = `/v1/customer/statements/${month}`;
    expect((await call('GET', statement, undefined, { key: management })).body).toMatchObject({
      closing_balance: 120,
      totals: { grant: 150, correction: -30, charge: 0, net: 120 },
    });
    expect((await audited(id)).slice(-2)).toEqual([
      'admin_key ledger.grant',
      'admin_key ledger.correct',
    ]);
  });

  it('are added once per idempotency key, also by concurrent requests', async () => {
    const { path } = await makeTenant({ credits: 0 });
    const headers = { 'idempotency-key': 'a key with \\ in it' };
    const body = { credits: 5, memo: 'once' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        call('POST', `${path}/grants`, body, { headers, at: index % 2 ? gateway.url : other.url }),
      ),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]!.status).toBe(201);
    expect((await call('GET', path)).body).toMatchObject({ balance: 5 });

    const elsewhere = [
      call('POST', `${path}/grants`, { ...body, credits: 6 }, { headers }),
      call('POST', `${path}/grants`, { credits: 5 }, { headers }),
      call('POST', `${path}/corrections`, body, { headers }),
    ];
    for (const answer of elsewhere) {
      expect(await answer).toMatchObject(refused(409, 'idempotency-key'));
    }
    const long = { headers: { 'idempotency-key': 'k'.repeat(256) } };
    expect(await call('POST', `${path}/grants`, body, long)).toMatchObject(
      refused(400, 'idempotency-key'),
    );
    // A rejected request has not used its key.
    const again = { headers: { 'idempotency-key': 'another' } };
    const take = { credits: -9 };
    expect((await call('POST', `${path}/corrections`, take, again)).status).toBe(409);
    await call('POST', `${path}/grants`, { credits: 4 });
    expect((await call('POST', `${path}/corrections`, take, again)).status).toBe(201);
    // Keys are scoped to the tenant.
    const another = await makeTenant({ credits: 0 });
    expect((await call('POST', `${another.path}/grants`, body, { headers })).status).toBe(201);
  });

  it.each<[string, object, string]>([
    ['grants', {}, 'credits'],
    ['grants', { credits: 0 }, 'credits'],
    ['grants', { credits: -5 }, 'credits'],
    ['grants', { credits: '5' }, 'credits'],
    ['grants', { credits: 2 ** 53 }, 'credits'],
    ['grants', { credits: 5, memo: 7 }, 'memo'],
    ['grants', { credits: 5, kind: 'grant' }, 'kind'],
    ['corrections', { credits: 0 }, 'credits'],
    ['corrections', { credits: 0.5 }, 'credits'],
    ['corrections', { credits: null }, 'credits'],
  ])('POST %s rejects %j, naming %s', async (path, body, param) => {
    const tenant = `${TENANTS}/${gateway.tenantId}`;
    expect(await call('POST', `${tenant}/${path}`, body)).toMatchObject(refused(400, param));
  });

  it('take only available credits under concurrent corrections and charges', async () => {
    const { id, path, routing } = await makeTenant({ credits: 2_000 });
    const work = { key: routing };
    const paid = { ...CHAT, max_tokens: 8 };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2
          ? call('POST', '/v1/chat/completions', paid, work)
          : call('POST', `${path}/corrections`, { credits: -150 }),
      ),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].filter((status) => ![200, 201, 402, 409].includes(status))).toEqual([]);
    const taken = answers.filter(({ status }) => status === 201).length;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(14);
    const { body } = await call('GET', path);
    expect(body).toMatchObject({ held: 0, balance: 2_000 - 150 * taken - Number(body.spent) });
    expect(Number(body.balance)).toBeGreaterThanOrEqual(0);
    expect(id).toBe(body.id);
    expect(await findLedgerFaults(database.database)).toEqual([]);
  });
});

describe('keys of any tenant', () => {
  it('are created, changed with their rate limit, and revoked', async () => {
    const { id, path } = await makeTenant();
    const made = await call('POST', `${path}/api-keys`, {
      name: 'service',
      rate_limit_per_minute: 2,
      monthly_spend_limit: 900,
    });
    expect(made).toMatchObject({
      status: 201,
      body: { type: 'routing', made_by: 'operator', rate_limit_per_minute: 2, status: 'active' },
    });
    const key = { key: String(made.body.key) };
    const ask = () => call('POST', '/v1/chat/completions', CHAT, key);
    const at = `${path}/api-keys/${String(made.body.id)}`;
    const changed = await call('PATCH', at, {
      rate_limit_per_minute: 50,
      monthly_spend_limit: null,
    });
    expect(changed.body).toMatchObject({ rate_limit_per_minute: 50, monthly_spend_limit: null });
    expect((await call('GET', at)).body).toEqual(changed.body);
    for (let count = 0; count < 4; count++) expect((await ask()).status).toBe(200);
    // The tenant itself may not change it.
    const own = `/v1/customer/api-keys/${String(made.body.id)}`;
    expect(await call('PATCH', own, { rate_limit_per_minute: 60 }, key)).toMatchObject(
      refused(400, 'rate_limit_per_minute'),
    );

    expect((await call('DELETE', at)).body).toMatchObject({ status: 'revoked' });
    expect((await ask()).status).toBe(401);
    expect((await call('DELETE', at)).body).toMatchObject({ status: 'revoked' });
    expect((await audited(id)).slice(4)).toEqual([
      'admin_key api_key.create',
      'admin_key api_key.update',
      'admin_key api_key.revoke',
    ]);
    const { rows } = await database.database.query(
      `SELECT before, after FROM audit_log WHERE tenant_id = $1 AND action = 'api_key.update'`,
      [id],
    );
    expect(rows).toMatchObject([
      {
        before: { rate_limit_per_minute: 2, monthly_spend_limit: 900 },
        after: { rate_limit_per_minute: 50, monthly_spend_limit: null },
      },
    ]);
    const list = await call('GET', `${path}/api-keys?limit=1`);
    expect(list.body.data.map((each) => each.id)).toEqual([made.body.id]);
    const rest = await call('GET', `${path}/api-keys?cursor=${String(list.body.next_cursor)}`);
    expect(rest.body.data).toHaveLength(2);
    expect(JSON.stringify([list, rest])).not.toContain(key.key);
  });

  it.each<[object, string]>([
    [{ name: '' }, 'name'],
    [{ name: 'n', type: 'admin' }, 'type'],
    [{ name: 'n', rate_limit_per_minute: 0 }, 'rate_limit_per_minute'],
    [{ name: 'n', rate_limit_per_minute: null }, 'rate_limit_per_minute'],
    [{ name: 'n', monthly_spend_limit: 0 }, 'monthly_spend_limit'],
    [{ name: 'n', expires_at: '2001-01-01' }, 'expires_at'],
    [{ name: 'n', key: 'sk-of-my-own' }, 'key'],
  ])('rejects a key with %j', async (body, param) => {
    const path = `${TENANTS}/${gateway.tenantId}/api-keys`;
    expect(await call('POST', path, body)).toMatchObject(refused(400, param));
  });
});

describe('a deleted tenant', () => {
  it('is anonymized and emptied, and its books balance', async () => {
    const { id, path, routing, management } = await makeTenant({
      name: `Jane Doe ${randomUUID()}`,
    });
    const asTenant = { key: management };
    const options = { key: routing, headers: { 'x-gateway-tags': 'team=secret' } };
    await call('POST', '/v1/chat/completions', { ...CHAT, user: 'secret' }, options);
    await call(
      'POST',
      '/v1/responses',
      { model: 'sandbox/echo', input: 'secret' },
      { key: routing },
    );
    await call(
      'POST',
      '/v1/conversations',
      { items: [{ role: 'user', content: 'secret' }] },
      { key: routing },
    );
    const job = await call(
      'POST',
      '/v1/jobs',
      { model: 'sandbox/image', prompt: 'secret' },
      { key: routing },
    );
    await call(
      'POST',
      '/v1/customer/guardrails',
      { name: 'secret', rules: [{ type: 'secret' }] },
      asTenant,
    );
    await call(
      'POST',
      '/v1/customer/provider-credentials',
      { provider: 'openai', key: 'sk-secret-12345' },
      asTenant,
    );
    await call('GET', '/v1/customer/webhook-secret', undefined, asTenant);
    const limits = { models: { deny: ['secret/*'] }, max_in_flight: 50 };
    const { body: keys } = await call('GET', `${path}/api-keys`);
    const ofKeys = keys.data.map((key) => `/v1/admin/api-keys/${String(key.id)}/limits`);
    for (const [at, options] of [
      ['/v1/customer/limits', asTenant],
      ['/v1/customer/end-users/default-limits', asTenant],
      ...[`${path}/limits`, ...ofKeys].map((each) => [each, {}] as const),
    ] as const) {
      expect((await call('PUT', at, limits, options)).status).toBe(200);
    }
    await call(
      'POST',
      `${path}/grants`,
      { credits: 7 },
      { headers: { 'idempotency-key': 'secret' } },
    );

    const tagged = await database.database.query(
      'SELECT FROM request_logs WHERE tenant_id = $1 AND end_user IS NOT NULL AND tags IS NOT NULL',
      [id],
    );
    expect(tagged.rowCount).toBe(1);
    expect(await call('DELETE', path)).toMatchObject(refused(409, 'tenant_id'));
    await call('PATCH', path, { status: 'suspended' });
    await until(async () => {
      const { body } = await call('GET', `/v1/jobs/${String(job.body.id)}`, undefined, {
        key: routing,
      });
      return body.status === 'succeeded';
    });
    // Some seconds later.
    await database.database.query(
      `UPDATE tenants SET suspended_at = suspended_at - interval '1 minute' WHERE id = $1`,
      [id],
    );
    const deleted = await call('DELETE', path);
    expect(deleted).toMatchObject({
      status: 200,
      body: { name: `deleted ${id}`, status: 'deleted', balance: 0, held: 0, key_count: 0 },
    });
    expect(await call('DELETE', path)).toMatchObject({ status: 200, body: { status: 'deleted' } });
    await until(async () => (await call('GET', path)).body.erased_at !== null);
    for (const table of ['request_logs', 'request_log_series', 'jobs']) {
      const { rows } = await database.database.query(
        `SELECT FROM ${table} WHERE tenant_id = $1 AND (end_user IS NOT NULL OR tags IS NOT NULL)`,
        [id],
      );
      expect([table, rows.length]).toEqual([table, 0]);
    }
    await until(
      async () => (await call('GET', '/v1/models', undefined, { key: routing })).status === 401,
    );
    expect((await call('GET', `${TENANTS}?search=Jane`)).body.data).toEqual([]);
    expect((await call('GET', `${TENANTS}?status=deleted&search=${id}`)).body.data).toHaveLength(1);
    expect(await call('PATCH', path, { name: 'n' })).toMatchObject(refused(404, 'tenant_id'));
    expect(await call('POST', `${path}/grants`, { credits: 1 })).toMatchObject(
      refused(404, 'tenant_id'),
    );
    for (const [method, at, body, param] of [
      ['PUT', `${path}/limits`, limits, 'tenant_id'],
      ...ofKeys.map((each) => ['PUT', each, limits, 'id'] as const),
      ['PATCH', `/v1/admin/content-log/${id}`, { enabled: false }, 'id'],
      ['POST', `${path}/members`, { email: 'jane@example.com', role: 'owner' }, 'tenant_id'],
    ] as const) {
      expect([at, await call(method, at, body)]).toMatchObject([at, refused(404, param)]);
    }

    const { body: entries } = await call('GET', `${path}/entries?limit=1`);
    expect(entries.data).toMatchObject([{ kind: 'correction', memo: 'The tenant was deleted.' }]);
    const left = await Promise.all(
      [
        'stored_responses',
        'conversations',
        'guardrails',
        'provider_credentials',
        'webhook_secrets',
        'ledger_idempotency_keys',
      ].map(
        async (table) =>
          (await database.database.query(`SELECT * FROM ${table} WHERE tenant_id = $1`, [id])).rows,
      ),
    );
    expect(left.flat()).toEqual([]);
    for (const rows of ['jobs', 'api_keys', '(SELECT id AS tenant_id, * FROM tenants) AS tenant']) {
      const stored = await database.database.query(`SELECT * FROM ${rows} WHERE tenant_id = $1`, [
        id,
      ]);
      expect(JSON.stringify(stored.rows)).not.toContain('secret');
    }
    expect(await findLedgerFaults(database.database)).toEqual([]);
  });

  it('waits for running work, and until every instance knows of the suspension', async () => {
    const { id, path } = await makeTenant();
    await call('PATCH', path, { status: 'suspended' });
    expect(await call('DELETE', path)).toMatchObject({
      ...refused(409, 'tenant_id'),
      body: { error: { message: expect.stringContaining('just now') } },
    });
    const hold = randomUUID();
    await database.database.query(
      `WITH aged AS (
         UPDATE tenants SET suspended_at = suspended_at - interval '1 minute' WHERE id = $1
       ), held AS (UPDATE accounts SET held = 5 WHERE tenant_id = $1)
       INSERT INTO holds (request_id, tenant_id, amount, api_key_id, endpoint, model, provider, streamed, created_at)
       VALUES ($2, $1, 5, $2, 'chat', 'm', 'p', false, now())`,
      [id, hold],
    );
    expect(await call('DELETE', path)).toMatchObject({
      ...refused(409, 'tenant_id'),
      body: { error: { message: expect.stringContaining('1 open holds') } },
    });
    await database.database.query(
      `WITH freed AS (UPDATE accounts SET held = 0 WHERE tenant_id = $1)
       DELETE FROM holds WHERE request_id = $2`,
      [id, hold],
    );
    expect((await call('DELETE', path)).status).toBe(200);
  });
});
