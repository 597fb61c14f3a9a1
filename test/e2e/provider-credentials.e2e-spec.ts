import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { loadSettings } from '../../src/app/load-settings.js';
import { CredentialCipher } from '../../src/core/credentials/credential-cipher.service.js';
import { errorAnswer, sendJson, type FakeAnswer } from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import {
  as,
  OPERATOR_KEY,
  setUpOwnAccounts,
  vendorKey,
  type Credential,
} from '../support/own-accounts.js';
import { CREDENTIALS } from '../support/paths.js';
import { until } from '../support/until.js';

/** 100 and 50 tokens at 1 and 2 credits. */
const SHARED_COST = 200;
const FEE = 10;

interface ErrorBody {
  error: { message: string; type: string; code: number; param: string };
}

const accounts = setUpOwnAccounts();
const { byKey, logged, boot, keysSeen, newTenant, store, ask, rowOf } = accounts;

async function refusalOf(response: Response): Promise<[number, string, string]> {
  const { error } = (await response.json()) as ErrorBody;
  return [response.status, error.type, error.param];
}

describe('a request of a tenant with a BYOK credential', () => {
  it.each([false, true])(
    'is sent with its key and charged the fee (stream: %s)',
    async (stream) => {
      const tenant = await newTenant();
      const own = vendorKey();
      await store(tenant.key, { provider: 'one', key: own });
      const answer = await ask(tenant.key, { stream });
      expect(answer.status).toBe(200);
      if (!stream) expect(answer.headers.get('x-gateway-cost')).toBe(String(FEE));
      expect(await rowOf(answer, tenant.key)).toMatchObject({
        status: 'success',
        provider: 'one',
        traffic_mode: 'byok',
        cost: FEE,
        vendor_cost: 0,
        cost_breakdown: {
          model_charge: 0,
          byok_platform_fee: FEE,
          managed_tool_fee: 0,
          agent_runtime_fee: 0,
          total_charge: FEE,
        },
        billing_note: expect.stringContaining('one'),
      });
      expect(keysSeen()).toEqual([`Bearer ${own}`]);
      const generation = await accounts.gateway.fetch(
        `/v1/generation?id=${answer.headers.get('x-request-id')}`,
        { headers: as(tenant.key) },
      );
      expect(await generation.json()).toMatchObject({ data: { total_cost: FEE, usage: FEE } });
      expect(await findLedgerFaults(accounts.access.database)).toEqual([]);
    },
  );

  it('needs credits for the fee only', async () => {
    const tenant = await newTenant(20);
    const fields = { max_tokens: 150 };
    expect((await ask(tenant.key, fields)).status).toBe(402);
    await store(tenant.key, { provider: 'one', key: vendorKey() });
    expect((await ask(tenant.key, fields)).status).toBe(200);
    const refused = await ask(tenant.key, { max_tokens: 100_000 });
    expect(refused.status).toBe(402);
    expect(await rowOf(refused, tenant.key)).toMatchObject({ cost: 0, billing_note: null });
  });

  it('leaves every other tenant on shared capacity', async () => {
    const [owner, other] = [await newTenant(), await newTenant()];
    await store(owner.key, { provider: 'one', key: vendorKey() });
    const answer = await ask(other.key);
    expect(keysSeen()).toEqual([`Bearer ${OPERATOR_KEY}`]);
    expect(await rowOf(answer, other.key)).toMatchObject({
      traffic_mode: 'shared',
      cost: SHARED_COST,
      billing_note: null,
    });
  });

  it('works for embeddings as well', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    await store(tenant.key, { provider: 'one', key: own });
    byKey.set(own, (_call, response) =>
      sendJson(response, 200, {
        object: 'list',
        model: 'embedding',
        data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
        usage: { prompt_tokens: 30, total_tokens: 30 },
      }),
    );
    const body = { model: 'one/embedding', input: 'text' };
    const answer = await accounts.gateway.post('/v1/embeddings', body, as(tenant.key));
    expect([answer.status, answer.headers.get('x-gateway-cost')]).toEqual([200, '2']);
    expect(keysSeen()).toEqual([`Bearer ${own}`]);
  });

  it('may refer to objects in its own account, which shared capacity rejects', async () => {
    const tenant = await newTenant();
    const fields = { service_tier: 'priority' };
    expect(await refusalOf(await ask(tenant.key, fields))).toEqual([
      400,
      'invalid_request_error',
      'service_tier',
    ]);
    const own = vendorKey();
    await store(tenant.key, { provider: 'one', key: own, allow_shared_fallback: true });
    expect((await ask(tenant.key, fields)).status).toBe(200);
    expect(accounts.fake.calls[0]!.body.service_tier).toBe('priority');
    byKey.set(own, errorAnswer(500));
    expect((await ask(tenant.key, fields)).status).toBe(502);
    expect(new Set(keysSeen())).toEqual(new Set([`Bearer ${own}`]));
  });
});

describe('fields for BYOK accounts only', () => {
  const message: FakeAnswer = (_call, response) =>
    sendJson(response, 200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'own-only',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 100, output_tokens: 50 },
    });
  const headers = { 'anthropic-beta': 'context-1m-2025-08-07' };
  const body = {
    model: 'anthropic/own-only',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
  };

  it('reach the vendor, including headers', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    byKey.set(own, message);
    await store(tenant.key, { provider: 'anthropic', key: own });
    const answer = await accounts.gateway.post('/v1/messages', body, {
      ...as(tenant.key),
      ...headers,
    });
    expect([answer.status, answer.headers.get('x-gateway-cost')]).toEqual([200, String(FEE)]);
    expect(accounts.fake.calls[0]!.headers).toMatchObject({ ...headers, 'x-api-key': own });
  });

  it('are rejected when a vendor of another dialect would not understand them', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    byKey.set(own, message);
    await store(tenant.key, { provider: 'anthropic', key: own });
    const file = { type: 'file', file: { file_id: 'file-1' } };
    const messages = [{ role: 'user', content: [file] }];
    const answer = await ask(tenant.key, { model: 'anthropic/own-only', messages });
    const { error } = (await answer.json()) as ErrorBody;
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 400, param: 'messages' });
    expect(error.message).toContain('messages.0.content.0.file.file_id');
    expect(accounts.fake.calls).toHaveLength(0);
  });
});

describe('a provider that the operator has not configured', () => {
  it('serves the tenant with an account there, and is listed for that tenant only', async () => {
    const [owner, other] = [await newTenant(), await newTenant()];
    const own = vendorKey();
    await store(owner.key, { provider: 'openai', key: own });
    const model = 'openai/own-only';
    expect((await ask(owner.key, { model })).status).toBe(200);
    expect(keysSeen()).toEqual([`Bearer ${own}`]);
    expect((await ask(other.key, { model })).status).toBe(503);
    for (const [key, isListed] of [
      [owner.key, true],
      [other.key, false],
    ] as const) {
      const listed = await accounts.gateway.fetch('/v1/models', { headers: as(key) });
      const { data } = (await listed.json()) as { data: { id: string }[] };
      expect(data.some(({ id }) => id === model)).toBe(isListed);
      const one = await accounts.gateway.fetch(`/v1/models/${model}`, { headers: as(key) });
      expect(one.status).toBe(isListed ? 200 : 404);
      const routed = await accounts.gateway.fetch('/v1/models?include_routes=true', {
        headers: as(key),
      });
      const { data: models } = (await routed.json()) as {
        data: { id: string; kind: string; routes: object[] }[];
      };
      expect(models.find(({ id }) => id === model)).toEqual(
        isListed
          ? expect.objectContaining({
              kind: 'chat',
              routes: [
                {
                  provider: 'openai',
                  provider_name: expect.any(String),
                  state: 'healthy',
                  is_own_account: true,
                },
              ],
            })
          : undefined,
      );
      expect(models.map(({ id }) => id)).toEqual(data.map(({ id }) => id));
    }
  });

  it('is offered with the fields of an account', async () => {
    const tenant = await newTenant();
    const response = await accounts.gateway.fetch(`${CREDENTIALS}/providers`, {
      headers: as(tenant.key),
    });
    const { data } = (await response.json()) as { data: { provider: string }[] };
    expect(data.find(({ provider }) => provider === 'azure')).toMatchObject({
      key_description: expect.any(String),
      settings: expect.arrayContaining([
        { name: 'endpoint', is_required: true, description: expect.any(String) },
      ]),
    });
  });

  it('is called at the address of the tenant’s account', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    const endpoint = new URL(accounts.fake.baseUrl).origin;
    const settings = { endpoint, api_version: '2024-10-21' };
    await store(tenant.key, { provider: 'azure', key: own, settings });
    expect((await ask(tenant.key, { model: 'azure/deployed' })).status).toBe(200);
    expect(accounts.fake.calls[0]).toMatchObject({
      path: '/openai/deployments/deployed/chat/completions?api-version=2024-10-21',
      headers: { 'api-key': own },
    });
  });
});

describe('a failing credential', () => {
  const refused: [string, FakeAnswer][] = [
    ['401', errorAnswer(401, { message: 'Incorrect API key provided' })],
    ['402', errorAnswer(402, { message: 'pay' })],
    ['403', errorAnswer(403, { message: 'no' })],
    ['an exhausted quota', errorAnswer(429, { message: 'quota', code: 'insufficient_quota' })],
  ];

  it.each(refused)('with %s is reported as such, without shared capacity', async (_name, bad) => {
    const tenant = await newTenant();
    const own = vendorKey();
    byKey.set(own, bad);
    await store(tenant.key, { provider: 'one', key: own });
    const answer = await ask(tenant.key);
    expect(answer.status).toBe(502);
    const { error } = (await answer.clone().json()) as ErrorBody;
    expect(error).toMatchObject({ type: 'provider_error', param: 'provider-credentials' });
    expect(error.message).toContain('your own credential');
    expect(error.message).not.toContain(own);
    expect(keysSeen()).toEqual([`Bearer ${own}`]);
    expect(await rowOf(answer, tenant.key)).toMatchObject({
      status: 'error',
      cost: 0,
      traffic_mode: 'byok',
    });
  });

  it.each(refused)('with %s falls back to shared capacity if allowed', async (_name, bad) => {
    const tenant = await newTenant();
    const own = vendorKey();
    byKey.set(own, bad);
    await store(tenant.key, { provider: 'one', key: own, allow_shared_fallback: true });
    const answer = await ask(tenant.key);
    expect(answer.status).toBe(200);
    expect(keysSeen()).toEqual([`Bearer ${own}`, `Bearer ${OPERATOR_KEY}`]);
    expect(await rowOf(answer, tenant.key)).toMatchObject({
      cost: SHARED_COST,
      traffic_mode: 'shared',
      billing_note: null,
    });
  });

  it('falls back to further models that the caller names', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    byKey.set(own, errorAnswer(401, { message: 'no' }));
    await store(tenant.key, { provider: 'openai', key: own });
    const answer = await ask(tenant.key, {
      models: ['openai/own-only', 'one/a'],
      model: undefined,
    });
    expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([200, 'one']);
  });

  it('never pauses the provider for others, however often it fails', async () => {
    const [owner, other] = [await newTenant(), await newTenant()];
    const own = vendorKey();
    byKey.set(own, errorAnswer(401, { message: 'no' }));
    await store(owner.key, { provider: 'one', key: own });
    for (let times = 0; times < 20; times++) expect((await ask(owner.key)).status).toBe(502);
    const metrics = await (await fetch(`${accounts.gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/^gateway_routes_cooling 0$/m);
    expect(metrics).toMatch(/^gateway_own_routes_cooling [1-9]\d*$/m);
    for (let times = 0; times < 5; times++) expect((await ask(other.key)).status).toBe(200);
    // A replaced credential does not wait for the old one's cooldown.
    const better = vendorKey();
    await store(owner.key, { provider: 'one', key: better });
    accounts.fake.calls.length = 0;
    expect((await ask(owner.key)).status).toBe(200);
    expect(keysSeen()).toEqual([`Bearer ${better}`]);
  });

  it('with its own address does not pause the provider for others either', async () => {
    const [owner, other] = [await newTenant(), await newTenant()];
    const settings = { endpoint: 'http://127.0.0.1:9' };
    await store(owner.key, { provider: 'azure', key: vendorKey(), settings });
    for (let times = 0; times < 8; times++) {
      expect((await ask(owner.key, { model: 'azure/deployed' })).status).toBe(502);
    }
    const working = { endpoint: new URL(accounts.fake.baseUrl).origin };
    await store(other.key, { provider: 'azure', key: vendorKey(), settings: working });
    expect((await ask(other.key, { model: 'azure/deployed' })).status).toBe(200);
  });
});

describe('storing a credential', () => {
  const azure = { provider: 'azure', key: 'long-enough' };
  const bedrock = { provider: 'bedrock', key: 'long-enough' };
  const vertex = { provider: 'vertex', key: 'long-enough' };
  const access_key_id = 'AKIAIOSFODNN7EXAMPLE';

  it.each<[string, unknown, string]>([
    ['no provider', { key: 'long-enough' }, 'provider'],
    ['an unknown provider', { provider: 'nobody', key: 'long-enough' }, 'provider'],
    ['a provider without accounts', { provider: 'sandbox', key: 'long-enough' }, 'provider'],
    ['a server without keys', { provider: 'keyless', key: 'long-enough' }, 'provider'],
    ['a name of Object', { provider: 'constructor', key: 'long-enough' }, 'provider'],
    ['no key', { provider: 'one' }, 'key'],
    ['a key of another type', { provider: 'one', key: { a: 1 } }, 'key'],
    ['an empty key', { provider: 'one', key: '' }, 'key'],
    ['a line break', { provider: 'one', key: 'long-enough\r\nx-a: b' }, 'key'],
    ['a key beyond ASCII', { provider: 'one', key: 'löng-enough' }, 'key'],
    ['10,000 characters', { provider: 'one', key: 'k'.repeat(10_000) }, 'key'],
    ['a long name', { provider: 'one', key: 'long-enough', name: 'n'.repeat(10_000) }, 'name'],
    [
      'a string for a flag',
      { provider: 'one', key: 'long-enough', allow_shared_fallback: 'yes' },
      'allow_shared_fallback',
    ],
    ['a weight of 0', { provider: 'one', key: 'long-enough', weight: 0 }, 'weight'],
    ['a weight of 1,001', { provider: 'one', key: 'long-enough', weight: 1_001 }, 'weight'],
    [
      'half a request',
      { provider: 'one', key: 'long-enough', requests_per_minute: 0.5 },
      'requests_per_minute',
    ],
    [
      'a string for tokens',
      { provider: 'one', key: 'long-enough', tokens_per_minute: '5' },
      'tokens_per_minute',
    ],
    ['an unknown field', { provider: 'one', key: 'long-enough', tenant_id: 'x' }, 'tenant_id'],
    [
      'settings of another type',
      { provider: 'one', key: 'long-enough', settings: [1] },
      'settings',
    ],
    [
      'an unknown setting',
      { provider: 'one', key: 'long-enough', settings: { base_url: 'https://a.example' } },
      'settings.base_url',
    ],
    ['no endpoint', azure, 'settings.endpoint'],
    ['a path', { ...azure, settings: { endpoint: 'https://a.example/b' } }, 'settings.endpoint'],
    [
      'a user in the address',
      { ...azure, settings: { endpoint: 'https://u:p@a.example' } },
      'settings.endpoint',
    ],
    ['a file', { ...azure, settings: { endpoint: 'file:///etc/passwd' } }, 'settings.endpoint'],
    ['no region', { ...bedrock, settings: { access_key_id } }, 'settings.region'],
    [
      'a host in the region',
      { ...bedrock, settings: { access_key_id, region: 'a.example/' } },
      'settings.region',
    ],
    ['no access key id', { ...bedrock, settings: { region: 'a-1' } }, 'settings.access_key_id'],
    ['no project', vertex, 'settings.project'],
    [
      'a host in the location',
      { ...vertex, settings: { project: 'p', location: 'a.example/' } },
      'settings.location',
    ],
    ['JSON of another kind', { ...vertex, key: '{"type":"external_account"}' }, 'key'],
  ])('is rejected with %s', async (_name, body, param) => {
    const answer = await accounts.gateway.post(CREDENTIALS, body);
    expect(await refusalOf(answer)).toEqual([400, 'invalid_request_error', param]);
  });

  it('shows everything but the key, which is nowhere in the database', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    const made = await store(tenant.key, {
      provider: 'one',
      name: 'ours',
      key: own,
      allow_shared_fallback: true,
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      scope: { type: 'key', api_key_id: expect.any(String) },
      provider: 'one',
      name: 'ours',
      key_preview: `vend...${own.slice(-4)}`,
      settings: {},
      allow_shared_fallback: true,
      weight: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      created_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      check: null,
    });
    await (await ask(tenant.key)).text();
    const listed = await accounts.gateway.fetch(CREDENTIALS, { headers: as(tenant.key) });
    const { data } = (await listed.json()) as { data: Credential[] };
    const { check: _, ...record } = { check: null, ...made };
    expect(data).toEqual([{ ...record, last_used_at: expect.stringMatching(/Z$/) }]);

    const { rows } = await accounts.access.database.query<{ row: string }>(
      'SELECT row_to_json(t)::text AS row FROM provider_credentials t',
    );
    const content = rows.map(({ row }) => row).join('\n');
    expect(content).toContain(made.id);
    for (const form of [own, Buffer.from(own).toString('hex')]) expect(content).not.toContain(form);
  });
});

describe('a key that is tested when it is stored', () => {
  const listed: FakeAnswer = (_call, response) =>
    sendJson(response, 200, { data: [{ id: 'a' }, { id: 'embedding' }] });

  it('is stored with the vendor’s response, unless the vendor rejects it', async () => {
    const tenant = await newTenant();
    const [good, bad, unreachable] = [vendorKey(), vendorKey(), vendorKey()];
    byKey.set(good, listed);
    byKey.set(bad, errorAnswer(401));
    byKey.set(unreachable, errorAnswer(500));
    const send = (key: string, fields: object, query = ''): Promise<Response> =>
      accounts.gateway.post(
        CREDENTIALS + query,
        { provider: 'one', key, ...fields },
        as(tenant.key),
      );
    expect(await refusalOf(await send(bad, { check: true }))).toEqual([
      400,
      'invalid_provider_key',
      'key',
    ]);
    expect((await send(bad, {}, '?check=true')).status).toBe(400);
    expect(await refusalOf(await send(good, { check: 'yes' }))).toEqual([
      400,
      'invalid_request_error',
      'check',
    ]);
    expect(await refusalOf(await send(good, {}, '?check=yes'))).toEqual([
      400,
      'invalid_request_error',
      'check',
    ]);
    const list = await accounts.gateway.fetch(CREDENTIALS, { headers: as(tenant.key) });
    expect(await list.json()).toEqual({ data: [] });
    expect(keysSeen()).toEqual([`Bearer ${bad}`, `Bearer ${bad}`]);

    expect(await (await send(good, { check: true })).json()).toMatchObject({
      check: { status: 'ok', detail: expect.stringContaining('takes the key'), models: 2 },
    });
    expect(await (await send(unreachable, {}, '?check=true')).json()).toMatchObject({
      check: { status: 'unreachable', detail: expect.stringContaining('(500)'), models: null },
    });
    const count = accounts.fake.calls.length;
    // The body has precedence.
    for (const answer of [await send(bad, { check: false }, '?check=true'), await send(bad, {})]) {
      expect([answer.status, await answer.json()]).toEqual([
        201,
        expect.objectContaining({ check: null }),
      ]);
    }
    expect(accounts.fake.calls).toHaveLength(count);
  });

  it('is tested by default where keys of the operator are tested too', async () => {
    const path = '/v1/admin/providers';
    byKey.set(OPERATOR_KEY, listed);
    const checking = await boot({
      GATEWAY_CHECK_KEYS: 'on',
      GATEWAY_ADMIN_KEY: 'sk-admin-of-this-one',
    });
    try {
      const before = (await (await checking.admin('GET', path)).json()) as { data: object[] };
      expect(before.data).toContainEqual(expect.objectContaining({ id: 'one', key_checks: [] }));
      const printed: string[] = [];
      checking.gateway.checkKeys((lines) => printed.push(lines));
      await until(() => Promise.resolve(printed.length > 0));
      expect(printed.join()).toMatch(
        /\n {2}one +works +sees 2 of 3 models of the catalogue, not one\/b\n/,
      );
      const { data } = (await (await checking.admin('GET', path)).json()) as { data: object[] };
      expect(data).toContainEqual(
        expect.objectContaining({
          id: 'one',
          key_checks: [
            {
              status: 'ok',
              detail: expect.stringContaining('It lists 2 models.'),
              models: 2,
              account: null,
              catalogue: { total: 3, seen: 2, missing: ['one/b'] },
              checked_at: expect.stringMatching(/Z$/),
            },
          ],
        }),
      );
      const tenant = await newTenant();
      const bad = vendorKey();
      byKey.set(bad, errorAnswer(403));
      const body = { provider: 'one', key: bad };
      const refused = await checking.post(CREDENTIALS, body, as(tenant.key));
      expect(await refusalOf(refused)).toEqual([400, 'invalid_provider_key', 'key']);
      const stored = await checking.post(CREDENTIALS, { ...body, check: false }, as(tenant.key));
      expect(stored.status).toBe(201);
    } finally {
      await checking.close();
    }
  });
});

describe('several credentials with one provider', () => {
  it('share requests by their limits, and return a retry time when they are used up', async () => {
    const tenant = await newTenant();
    const change = (id: string, body: object, key = tenant.key): Promise<Response> =>
      accounts.gateway.fetch(`${CREDENTIALS}/${id}`, {
        method: 'PATCH',
        headers: { ...as(key), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const [first, second] = [vendorKey(), vendorKey()];
    const limited = { provider: 'one', key: first, requests_per_minute: 1 };
    expect(await store(tenant.key, limited)).toMatchObject({
      weight: null,
      requests_per_minute: 1,
      tokens_per_minute: null,
    });
    const { id } = await store(tenant.key, { provider: 'one', key: second, weight: 3 });
    const changed = await change(id, { requests_per_minute: 2 });
    expect([changed.status, await changed.json()]).toEqual([
      200,
      expect.objectContaining({ id, weight: 3, requests_per_minute: 2, tokens_per_minute: null }),
    ]);
    for (let times = 0; times < 3; times++) expect((await ask(tenant.key)).status).toBe(200);
    expect(keysSeen().sort()).toEqual(
      [`Bearer ${first}`, `Bearer ${second}`, `Bearer ${second}`].sort(),
    );
    const refused = await ask(tenant.key);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(61);
    const text = await refused.text();
    for (const key of [first, second]) expect(text).not.toContain(key.slice(8));
    expect(keysSeen()).toHaveLength(3);

    expect((await change(id, { requests_per_minute: null })).status).toBe(200);
    expect((await ask(tenant.key)).status).toBe(200);
    expect(keysSeen().at(-1)).toBe(`Bearer ${second}`);

    expect(await refusalOf(await change(id, { weight: 0 }))).toEqual([
      400,
      'invalid_request_error',
      'weight',
    ]);
    expect((await change(id, { key: vendorKey() })).status).toBe(400);
    const other = await newTenant();
    for (const [of, key] of [
      [id, other.key],
      [randomUUID(), tenant.key],
      ['no-uuid', tenant.key],
    ] as const) {
      expect((await change(of, { weight: 2 }, key)).status).toBe(404);
    }
    const { id: managed } = await store(tenant.managementKey, {
      provider: 'one',
      key: vendorKey(),
    });
    expect((await change(managed, { weight: 2 })).status).toBe(403);
    expect((await change(managed, { weight: 2 }, tenant.managementKey)).status).toBe(200);
  });
});

describe('a change', () => {
  it('applies to the next request, also a deletion', async () => {
    const tenant = await newTenant();
    await (await ask(tenant.key)).text();
    const own = vendorKey();
    const { id } = await store(tenant.key, { provider: 'one', key: own });
    await (await ask(tenant.key)).text();
    const deleted = await accounts.gateway.fetch(`${CREDENTIALS}/${id}`, {
      method: 'DELETE',
      headers: as(tenant.key),
    });
    expect(await deleted.json()).toEqual({ id, deleted: true });
    await (await ask(tenant.key)).text();
    expect(keysSeen()).toEqual([
      `Bearer ${OPERATOR_KEY}`,
      `Bearer ${own}`,
      `Bearer ${OPERATOR_KEY}`,
    ]);
  });

  it('can be tested with a real call before and after it, without revealing keys', async () => {
    const tenant = await newTenant();
    const [good, bad] = [vendorKey(), vendorKey()];
    byKey.set(good, (_, response) => sendJson(response, 200, { data: [{ id: 'a' }] }));
    byKey.set(bad, (_, response) => sendJson(response, 401, { error: { message: `no ${bad}` } }));
    const test = async (key: string) => {
      const body = { provider: 'one', key };
      const answer = await accounts.gateway.post(`${CREDENTIALS}/test`, body, as(tenant.key));
      expect(answer.status).toBe(200);
      return (await answer.json()) as { ok: boolean; message: string };
    };
    expect(await test(good)).toMatchObject({ ok: true, status: null, models_seen: 1 });
    const refused = await test(bad);
    expect(refused).toMatchObject({ ok: false, status: 401, models_seen: null });
    expect(refused.message).not.toContain(bad);
    expect(keysSeen()).toEqual([`Bearer ${good}`, `Bearer ${bad}`]);
    const unknown = { provider: 'nobody', key: good };
    expect(
      await refusalOf(await accounts.gateway.post(`${CREDENTIALS}/test`, unknown, as(tenant.key))),
    ).toEqual([400, 'invalid_request_error', 'provider']);

    const { id } = await store(tenant.key, { provider: 'one', key: good });
    const stored = await accounts.gateway.post(`${CREDENTIALS}/${id}/test`, {}, as(tenant.key));
    expect(await stored.json()).toMatchObject({ ok: true, models_seen: 1 });
    const other = await newTenant();
    const foreign = await accounts.gateway.post(`${CREDENTIALS}/${id}/test`, {}, as(other.key));
    expect(foreign.status).toBe(404);
  });

  it('applies on another instance within a second, under that instance’s rules', async () => {
    const tenant = await newTenant();
    const other = await boot({
      GATEWAY_BOOTSTRAP_API_KEY: accounts.gateway.apiKey,
      GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'false',
    });
    try {
      const askOther = (): Promise<Response> =>
        other.post(
          '/v1/chat/completions',
          { model: 'one/a', messages: [{ role: 'user', content: 'Hello' }] },
          as(tenant.key),
        );
      await (await askOther()).text();
      const own = vendorKey();
      await store(tenant.key, { provider: 'one', key: own });
      const settings = { endpoint: new URL(accounts.fake.baseUrl).origin };
      await store(tenant.key, { provider: 'azure', key: vendorKey(), settings });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      accounts.fake.calls.length = 0;
      await (await askOther()).text();
      expect(keysSeen()).toEqual([`Bearer ${own}`]);

      // A credential stored under other rules still cannot lead to an internal address.
      accounts.fake.calls.length = 0;
      const inside = await other.post(
        '/v1/chat/completions',
        { model: 'azure/deployed', messages: [{ role: 'user', content: 'Hello' }] },
        as(tenant.key),
      );
      expect(inside.status).toBe(502);
      expect(accounts.fake.calls).toHaveLength(0);
      for (const endpoint of ['http://a.example', 'https://127.0.0.1', 'https://[::1]']) {
        const body = { provider: 'azure', key: 'long-enough', settings: { endpoint } };
        expect(await refusalOf(await other.post(CREDENTIALS, body))).toEqual([
          400,
          'invalid_request_error',
          'settings.endpoint',
        ]);
      }
    } finally {
      await other.close();
    }
  });

  it('survives a restart', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    await store(tenant.key, { provider: 'one', key: own });
    const started = await boot({ GATEWAY_BOOTSTRAP_API_KEY: accounts.gateway.apiKey });
    try {
      const body = { model: 'one/a', messages: [{ role: 'user', content: 'Hello' }] };
      const answer = await started.post('/v1/chat/completions', body, as(tenant.key));
      expect([answer.status, answer.headers.get('x-gateway-cost')]).toEqual([200, String(FEE)]);
      expect(keysSeen()).toEqual([`Bearer ${own}`]);
    } finally {
      await started.close();
    }
  });

  it('is useless when encrypted with another secret, and does not fall back to shared capacity', async () => {
    const tenant = await newTenant();
    const { id } = await store(tenant.key, { provider: 'one', key: vendorKey() });
    const another = loadSettings({ GATEWAY_SECRET: 'another-secret-of-at-least-32-characters' });
    await accounts.gateway.database.query(
      'UPDATE provider_credentials SET sealed_key = $2 WHERE id = $1',
      [id, new CredentialCipher(another).encrypt(vendorKey(), id)],
    );
    const other = await boot({ GATEWAY_BOOTSTRAP_API_KEY: accounts.gateway.apiKey });
    try {
      const body = { model: 'one/a', messages: [{ role: 'user', content: 'Hello' }] };
      const answer = await other.post('/v1/chat/completions', body, as(tenant.key));
      expect(await refusalOf(answer)).toEqual([502, 'provider_error', 'provider-credentials']);
      expect(accounts.fake.calls).toHaveLength(0);
    } finally {
      await other.close();
    }
  });
});

describe('access to credentials', () => {
  it('requires a valid key, and shows nothing of another tenant', async () => {
    const [owner, other] = [await newTenant(), await newTenant()];
    const { id } = await store(owner.key, { provider: 'one', key: vendorKey() });
    const revoked = await accounts.access.makeKey({ tenantId: owner.id });
    await accounts.access.apiKeys.revoke(owner.id, revoked.id);

    const requests = (key: string | undefined): Promise<Response>[] => {
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (key !== undefined) headers.authorization = `Bearer ${key}`;
      const body = JSON.stringify({ provider: 'nobody', key: 'long-enough' });
      return [
        fetch(accounts.gateway.url + CREDENTIALS, { headers }),
        fetch(accounts.gateway.url + CREDENTIALS, { method: 'POST', headers, body }),
        fetch(`${accounts.gateway.url}${CREDENTIALS}/${id}`, { method: 'DELETE', headers }),
      ];
    };
    for (const key of [undefined, 'sk-unknown-key-of-nobody', revoked.plaintext]) {
      const answers = await Promise.all(requests(key));
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    }
    for (const key of [other.key, other.managementKey]) {
      const answers = await Promise.all(requests(key));
      expect(answers.map(({ status }) => status)).toEqual([200, 400, 404]);
      expect(await answers[0]!.text()).not.toContain(id);
    }
    for (const path of [`${CREDENTIALS}/no-uuid`, `${CREDENTIALS}/${randomUUID()}`]) {
      const deleted = await accounts.gateway.fetch(path, {
        method: 'DELETE',
        headers: as(owner.key),
      });
      expect(await refusalOf(deleted)).toEqual([404, 'not_found_error', 'id']);
    }
    const byManagement = await Promise.all(requests(owner.managementKey));
    expect(byManagement.map(({ status }) => status)).toEqual([200, 400, 200]);
  });

  it('restricts changes to management keys if configured', async () => {
    const tenant = await newTenant();
    const strict = await boot({
      GATEWAY_BOOTSTRAP_API_KEY: accounts.gateway.apiKey,
      GATEWAY_CUSTOMER_WRITES: 'management',
    });
    try {
      const body = { provider: 'one', key: vendorKey() };
      expect((await strict.post(CREDENTIALS, body, as(tenant.key))).status).toBe(403);
      expect((await strict.fetch(CREDENTIALS, { headers: as(tenant.key) })).status).toBe(200);
      expect((await strict.post(CREDENTIALS, body, as(tenant.managementKey))).status).toBe(201);
    } finally {
      await strict.close();
    }
  });
});

describe('a key of a tenant', () => {
  it('is in no answer, log or metric, even if the vendor repeats it', async () => {
    const tenant = await newTenant();
    const own = vendorKey();
    byKey.set(own, errorAnswer(400, { message: `bad key ${own}`, param: `messages ${own}` }));
    await store(tenant.key, { provider: 'one', key: own });
    const texts = [await (await ask(tenant.key)).text()];
    byKey.set(own, errorAnswer(500, { message: own }));
    texts.push(await (await ask(tenant.key, { stream: true })).text());
    texts.push(await (await fetch(`${accounts.gateway.url}/metrics`)).text());
    for (const path of [CREDENTIALS, '/v1/customer/logs', '/v1/models']) {
      texts.push(await (await accounts.gateway.fetch(path, { headers: as(tenant.key) })).text());
    }
    expect(texts.join('\n')).toContain('[redacted]');
    expect(logged.join('\n')).toContain('with credential');
    for (const text of [...texts, ...logged]) expect(text).not.toContain(own.slice(8));
  });
});
