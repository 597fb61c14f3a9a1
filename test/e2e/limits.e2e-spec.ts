import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { inOneMinute } from '../support/room-in-minute.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const CHAT = {
  model: 'sandbox/echo',
  messages: [{ role: 'user', content: 'word' }],
  max_tokens: 16,
};
/** Changes apply everywhere within a second. */
const EVERYWHERE_MS = 1_000;

interface Answer {
  status: number;
  headers: Headers;
  body: { error?: { type: string; param: string; message: string; details?: object } } & Record<
    string,
    unknown
  >;
}

interface Made {
  id: string;
  key: string;
}

let testDatabase: TestDatabase;
let gateways: [BootedGateway, BootedGateway];
let gateway: BootedGateway;
/** The hold of a request in credits; it costs a fraction of it. */
let needed: number;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  gateway = await bootGateway({}, { database: testDatabase });
  const other = await bootGateway(
    { GATEWAY_BOOTSTRAP_API_KEY: gateway.apiKey },
    { database: testDatabase },
  );
  gateways = [gateway, other];
  const { body } = await chat((await makeKey(day(0))).key);
  needed = Number(/needs (\d+) credits/.exec(body.error!.message)![1]);
});
afterAll(async () => {
  for (const each of gateways) await each.close();
  await testDatabase.drop();
});

async function call(
  method: string,
  path: string,
  body?: unknown,
  key = gateway.managementKey,
  instance = gateway,
): Promise<Answer> {
  const response = await fetch(instance.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const parsed = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {};
  return { status: response.status, headers: response.headers, body: parsed };
}

async function makeKey(limits: object | null, maker?: string): Promise<Made> {
  const { status, body } = await call(
    'POST',
    '/v1/customer/api-keys',
    { name: 'limited', limits, rate_limit_per_minute: 100_000 },
    maker,
  );
  expect({ status, error: body.error }).toEqual({ status: 201, error: undefined });
  return body as unknown as Made;
}

const chat = (key: string, fields: object = {}, instance = gateway) =>
  call('POST', '/v1/chat/completions', { ...CHAT, ...fields }, key, instance);

const day = (credits: number) => ({ budgets: [{ period: 'day', credits }] });

async function stateOf(path: string): Promise<Record<string, unknown>> {
  return (await call('GET', path)).body;
}

/** Returns holds and held credits, of which a refused request must leave none. */
async function traces(): Promise<number> {
  const { rows } = await testDatabase.database.query<{ count: number }>(
    'SELECT (SELECT count(*) FROM holds) + (SELECT coalesce(sum(held), 0) FROM accounts) AS count',
  );
  return Number(rows[0]!.count);
}

describe('a budget', () => {
  it('is never exceeded by 200 parallel requests over two instances', async () => {
    const { id, key } = await makeKey(day(500));
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => chat(key, {}, gateways[index % 2])),
    );
    for (let round = 0; round < 60; round++) answers.push(await chat(key, {}, gateways[round % 2]));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(100);
    const tomorrow = new Date(Math.floor(Date.now() / 86_400_000 + 1) * 86_400_000).toISOString();
    for (const { status, body } of refused) {
      expect({ status, ...body.error }).toMatchObject({
        status: 402,
        type: 'budget_exceeded',
        param: 'api_key.budgets.day',
        message: expect.stringContaining(`daily budget of 500 credits`),
        details: { renews_at: tomorrow },
      });
    }
    const { limits, usage } = (await stateOf(`/v1/customer/api-keys/${id}`)) as {
      limits: { budgets: { spent: number; remaining: number }[] };
      usage: { total_spend: number };
    };
    const [budget] = limits.budgets;
    expect(budget).toMatchObject({ period: 'day', credits: 500, held: 0, renews_at: tomorrow });
    expect(budget!.spent).toBe(usage.total_spend);
    expect(budget!.spent).toBeLessThanOrEqual(500);
    expect(budget!.remaining).toBeLessThan(needed);
    expect(await traces()).toBe(0);
    const { body } = await call('GET', '/api/v1/key', undefined, key);
    expect(body.data).toMatchObject({
      limit: 500,
      limit_remaining: budget!.remaining,
      limit_reset: 'daily',
    });
  });

  it('of the tenant, set by operator and tenant, applies to all keys of all instances within a second', async () => {
    const tenantPath = `/v1/admin/tenants/${gateway.tenantId}/limits`;
    const [{ key }, { key: another }] = [await makeKey(null), await makeKey(null)];
    expect((await chat(another, {}, gateways[1])).status).toBe(200);
    const set = await gateway.admin('PUT', tenantPath, {
      budgets: [{ period: 'week', credits: 40 }],
    });
    expect(set.status).toBe(200);
    const tooMuch = { budgets: [{ period: 'week', credits: 41 }] };
    expect(await call('PUT', '/v1/customer/limits', tooMuch)).toMatchObject({
      status: 403,
      body: { error: { type: 'permission_error', param: 'budgets.week' } },
    });
    const own = {
      budgets: [
        { period: 'week', credits: 30 },
        { period: 'hour', credits: 39 },
      ],
    };
    expect((await call('PUT', '/v1/customer/limits', own)).status).toBe(200);
    await pause(EVERYWHERE_MS);
    for (const instance of gateways) {
      expect(await chat(another, {}, instance)).toMatchObject({
        status: 402,
        body: { error: { type: 'budget_exceeded', param: 'tenant.budgets.hour' } },
      });
    }
    expect(await chat(key, { max_tokens: 1 })).toMatchObject({ status: 200 });
    expect(await stateOf('/v1/customer/limits')).toMatchObject({
      limits: {
        budgets: [
          { period: 'week', credits: 30 },
          { period: 'hour', credits: 39 },
        ],
      },
      operator_limits: { budgets: [{ period: 'week', credits: 40 }] },
    });
    await gateway.admin('PUT', tenantPath, {});
    await call('PUT', '/v1/customer/limits', {});
    await pause(EVERYWHERE_MS);
    for (const instance of gateways) expect((await chat(another, {}, instance)).status).toBe(200);
  });

  it('recovers the unused hold of a disconnected caller', async () => {
    const { id, key } = await makeKey(day(100_000));
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...CHAT,
        stream: true,
        max_tokens: 4_000,
        messages: [{ role: 'user', content: 'word '.repeat(4_000) }],
      }),
      signal: leaving.signal,
    });
    await response.body!.getReader().read();
    leaving.abort();
    const budgetNow = async () => {
      const { limits } = (await stateOf(`/v1/customer/api-keys/${id}`)) as {
        limits: { budgets: { spent: number; held: number }[] };
      };
      return limits.budgets[0]!;
    };
    await until(async () => (await budgetNow()).held === 0);
    expect((await budgetNow()).spent).toBeGreaterThan(0);
  });

  it('is shared with descendants of a key, none of which gets more', async () => {
    const { key } = await makeKey({ ...day(needed + 1), requests_per_minute: 50 });
    const child = await makeKey(day(needed + 1), key);
    const spent = (await chat(child.key)).body.usage as { total_tokens: number };
    expect(spent.total_tokens).toBeGreaterThan(0);
    expect(await chat(key, { max_tokens: 17 })).toMatchObject({
      body: { error: { param: 'api_key.budgets.day' } },
    });
    for (const [limits, param] of [
      [day(needed + 2), 'limits.budgets.day'],
      [{ requests_per_minute: 51 }, 'limits.requests_per_minute'],
    ] as const) {
      const refusal = { status: 403, body: { error: { param } } };
      const body = { name: 'more', limits };
      expect(await call('POST', '/v1/customer/api-keys', body, key)).toMatchObject(refusal);
      const path = `/v1/customer/api-keys/${child.id}`;
      expect(await call('PATCH', path, { limits }, key)).toMatchObject(refusal);
      expect(await call('PATCH', path, { limits: null }, child.key)).toMatchObject({
        status: 403,
        body: { error: { param: 'limits' } },
      });
    }
  });
});

describe('an end user', () => {
  const limitsOf = (name: string) => `/v1/customer/end-users/${encodeURIComponent(name)}/limits`;

  it('has the default limits or its own, whatever dialect names it', async () => {
    const each = '/v1/customer/end-users/default-limits';
    expect((await call('PUT', each, day(needed))).status).toBe(200);
    expect((await call('PUT', limitsOf('vip/ä'), day(10 * needed))).status).toBe(200);
    await pause(EVERYWHERE_MS);
    const { key } = await makeKey(null);
    const refusal = { status: 402, body: { error: { param: 'end_user.budgets.day' } } };
    expect((await chat(key, { user: 'ann' })).status).toBe(200);
    expect(await chat(key, { user: 'ann' }, gateways[1])).toMatchObject(refusal);
    const { model, messages, max_tokens } = CHAT;
    const metadata = { user_id: 'ann' };
    const body = { model, messages, max_tokens, metadata };
    expect(await call('POST', '/v1/messages', body, key)).toMatchObject({
      status: 402,
      body: { error: { type: 'billing_error' } },
    });
    const request = { model, input: 'word', max_output_tokens: 16, safety_identifier: 'ann' };
    expect(await call('POST', '/v1/responses', request, key)).toMatchObject(refusal);
    for (let round = 0; round < 4; round++) {
      expect((await chat(key, { user: 'vip/ä' })).status).toBe(200);
      expect((await chat(key)).status).toBe(200);
    }
    expect((await chat(key, { user: 'bob' })).status).toBe(200);

    const { body: first } = await call('GET', '/v1/customer/end-users?limit=2');
    expect(first).toMatchObject({
      object: 'list',
      has_more: true,
      data: [
        { id: 'ann', has_own_limits: false, limits: { budgets: [{ credits: needed, held: 0 }] } },
        { id: 'bob' },
      ],
    });
    const rest = await call('GET', `/v1/customer/end-users?cursor=${String(first.next_cursor)}`);
    expect(rest.body).toMatchObject({
      has_more: false,
      data: [
        { id: 'vip/ä', has_own_limits: true, limits: { budgets: [{ credits: 10 * needed }] } },
      ],
    });
    expect((await call('DELETE', limitsOf('vip/ä'))).body).toMatchObject({
      has_own_limits: false,
      limits: { budgets: [{ credits: needed }] },
    });
    expect(await chat(key, { user: 'vip/ä' })).toMatchObject(refusal);
    await call('PUT', each, {});
    await pause(EVERYWHERE_MS);
    expect((await chat(key, { user: 'ann' })).status).toBe(200);
  });
});

describe('a rate', () => {
  it('stops with 429, the limit and a retry time', async () => {
    const answers = await inOneMinute(async () => {
      const { key } = await makeKey({ requests_per_minute: 3 });
      return Promise.all(Array.from({ length: 30 }, () => chat(key)));
    });
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.find(({ status }) => status !== 200)!;
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { type: 'rate_limit_error', param: 'api_key.requests_per_minute' } },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await traces()).toBe(0);
  });

  it('of tokens counts used tokens, and nothing for requests refused for lack of credits', async () => {
    const answers = await inOneMinute(async () => {
      const { key } = await makeKey({ ...day(100_000), tokens_per_minute: 100 });
      // The vendor refuses these, so they use no tokens.
      for (let round = 0; round < 5; round++) await chat(key, { model: 'sandbox/fault-400' });
      const answers = [];
      for (let round = 0; round < 60; round++) answers.push(await chat(key));
      return answers;
    });
    const used = answers.map(({ body }) => (body.usage as { total_tokens: number })?.total_tokens);
    const sum = used.reduce((total, each) => total + (each ?? 0), 0);
    expect(sum).toBeGreaterThan(80);
    expect(sum).toBeLessThanOrEqual(100 + 17);
    expect(answers.at(-1)).toMatchObject({
      status: 429,
      body: { error: { param: 'api_key.tokens_per_minute' } },
    });
  });
});

describe('a list of names', () => {
  const denied = (param: string) => ({
    status: 403,
    body: { error: { type: 'permission_error', param } },
  });

  it('of models excludes denied ones everywhere', async () => {
    const { key } = await makeKey({
      models: { allow: ['sandbox/*'], deny: ['*/words', 'sandbox/embed', '*speech', '*image'] },
    });
    expect((await chat(key)).status).toBe(200);
    const refusal = denied('api_key.models');
    expect(await chat(key, { model: 'sandbox/words' })).toMatchObject(refusal);
    expect(await chat(key, { models: ['sandbox/words'] })).toMatchObject(refusal);
    for (const [path, body] of [
      ['/v1/embeddings', { model: 'sandbox/embed', input: 'word' }],
      ['/v1/audio/speech', { model: 'sandbox/speech', input: 'word', voice: 'alloy' }],
      ['/v1/jobs', { model: 'sandbox/image', prompt: 'a barn' }],
      ['/v1/responses', { model: 'sandbox/words', input: 'word', background: true }],
    ] as const) {
      expect(await call('POST', path, body, key)).toMatchObject(refusal);
    }
    const { data } = (await call('GET', '/v1/models', undefined, key)).body as {
      data: { id: string }[];
    };
    expect(data.map(({ id }) => id)).toContain('sandbox/echo');
    expect(data.map(({ id }) => id)).not.toContain('sandbox/words');
    const one = await call('GET', '/v1/models/sandbox/words', undefined, key);
    expect(one.status).toBe(404);
  });

  it('of providers excludes routes and cached answers of denied ones', async () => {
    const [{ key: free }, { key }] = [
      await makeKey(null),
      await makeKey({ providers: { deny: ['sand*'] } }),
    ];
    const cached = { authorization: `Bearer ${free}`, 'x-gateway-cache': 'true' };
    for (const hit of [false, true]) {
      const response = await gateway.post('/v1/chat/completions', CHAT, cached);
      expect(response.status).toBe(200);
      await response.text();
      expect(response.headers.get('x-cache')).toBe(hit ? 'HIT' : 'MISS');
    }
    const headers = { authorization: `Bearer ${key}`, 'x-gateway-cache': 'true' };
    const response = await gateway.post('/v1/chat/completions', CHAT, headers);
    expect({ status: response.status, body: await response.json() }).toMatchObject(
      denied('api_key.providers'),
    );
    const { body } = await call('GET', '/v1/models', undefined, key);
    expect(body.data).toEqual([]);
  });
});

describe('a body of limits', () => {
  it.each([
    [{ budgets: {} }, 'budgets'],
    [{ budgets: [{ period: 'year', credits: 5 }] }, 'budgets.0.period'],
    [{ budgets: [{ period: 'day', credits: -1 }] }, 'budgets.0.credits'],
    [{ budgets: [{ period: 'day', credits: 1.5 }] }, 'budgets.0.credits'],
    [{ budgets: [{ period: 'day', credits: 5, more: 1 }] }, 'budgets.0.more'],
    [{ budgets: [...day(1).budgets, ...day(2).budgets] }, 'budgets'],
    [{ requests_per_minute: 0 }, 'requests_per_minute'],
    [{ tokens_per_minute: '5' }, 'tokens_per_minute'],
    [{ models: ['a'] }, 'models'],
    [{ models: { allow: 'a' } }, 'models.allow'],
    [{ providers: { deny: ['with space'] } }, 'providers.deny'],
    [{ providers: { forbid: [] } }, 'providers.forbid'],
    [{ rate_limit_per_minute: 5 }, 'rate_limit_per_minute'],
  ])('%j is rejected, naming %s', async (body, param) => {
    const refusal = (name: string) => ({
      status: 400,
      body: { error: { type: 'invalid_request_error', param: name } },
    });
    expect(await call('PUT', '/v1/customer/limits', body)).toMatchObject(refusal(param));
    const key = { name: 'limited', limits: body };
    expect(await call('POST', '/v1/customer/api-keys', key)).toMatchObject(
      refusal(`limits.${param}`),
    );
  });

  it.each([false, 0, '', 'none', []])('must be an object: %j removes no limits', async (limits) => {
    const refusal = { status: 400, body: { error: { param: 'limits' } } };
    const made = await makeKey({ max_in_flight: 2 });
    const path = `/v1/customer/api-keys/${made.id}`;
    expect(await call('PATCH', path, { limits })).toMatchObject(refusal);
    expect(await stateOf(path)).toMatchObject({ limits: { max_in_flight: 2 } });
    const body = { name: 'limited', limits };
    expect(await call('POST', '/v1/customer/api-keys', body)).toMatchObject(refusal);
  });

  it('cannot be set for a management key or an unknown one', async () => {
    const body = { name: 'm', type: 'management', limits: day(1) };
    expect(await call('POST', '/v1/customer/api-keys', body)).toMatchObject({
      status: 400,
      body: { error: { param: 'limits' } },
    });
    for (const path of ['tenants', 'api-keys']) {
      const unknown = `/v1/admin/${path}/7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01/limits`;
      for (const id of [unknown, `/v1/admin/${path}/nobody/limits`]) {
        expect((await gateway.admin('PUT', id, {})).status).toBe(404);
        expect((await gateway.admin('GET', id)).status).toBe(404);
      }
    }
  });

  it('replaces all limits: omitted ones are removed', async () => {
    const { id, key } = await makeKey({ ...day(1), max_in_flight: 2, models: { deny: ['*'] } });
    expect((await chat(key)).status).toBe(403);
    const path = `/v1/customer/api-keys/${id}`;
    const patched = await call('PATCH', path, { limits: { max_in_flight: 2, models: null } });
    expect(patched.body.limits).toEqual({
      budgets: [],
      requests_per_minute: null,
      tokens_per_minute: null,
      max_in_flight: 2,
      models: null,
      providers: null,
    });
    expect((await chat(key)).status).toBe(200);
    await gateway.admin('PUT', `/v1/admin/api-keys/${id}/limits`, { providers: { allow: [] } });
    expect(await chat(key)).toMatchObject({ body: { error: { param: 'api_key.providers' } } });
    expect((await call('PATCH', path, { limits: null })).body).toMatchObject({
      limits: { max_in_flight: null },
      operator_limits: { providers: { allow: [] } },
    });
  });
});
