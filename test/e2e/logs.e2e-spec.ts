import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '../../src/platform/errors/error-response.js';
import type {
  LogFacetsDto,
  LogListDto,
  NewerLogsDto,
} from '../../src/features/customer/logs/logs.dto.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';
import {
  openAccessServices,
  type AccessServices,
  type MadeKey,
} from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';

const PATH = '/v1/customer/logs';

const LAST_PAGE = {
  total_is_exact: true,
  limit: 50,
  offset: 0,
  has_more: false,
  next_cursor: null,
};

describe(`GET ${PATH}`, () => {
  let gateway: BootedGateway;
  let access: AccessServices;
  let tenants = 0;

  beforeAll(async () => {
    gateway = await bootGateway();
    access = await openAccessServices(gateway.config.databaseUrl!);
  });
  afterAll(async () => {
    await access.close();
    await gateway.close();
  });

  /** Creates a tenant without credits or requests, and its only key. */
  async function makeTenant(): Promise<{ tenantId: string; key: MadeKey }> {
    const tenantId = await access.makeTenant(`tenant ${++tenants}`);
    return { tenantId, key: await access.makeKey({ tenantId }) };
  }

  function insert(tenantId: string, overrides: Partial<RequestLogRow> = {}) {
    return insertRequestLogRow(gateway.database, tenantId, overrides);
  }

  function get(query: Record<string, string> | string, plaintext: string): Promise<Response> {
    return gateway.fetch(`${PATH}?${new URLSearchParams(query).toString()}`, {
      headers: { authorization: `Bearer ${plaintext}` },
    });
  }

  async function list(query: Record<string, string> | string, key: MadeKey): Promise<LogListDto> {
    const response = await get(query, key.plaintext);
    expect(response.status).toBe(200);
    return (await response.json()) as LogListDto;
  }

  async function refusal(query: Record<string, string> | string, key: MadeKey) {
    const response = await get(query, key.plaintext);
    const { error } = (await response.json()) as ErrorBody;
    expect(error.code).toBe(response.status);
    return { status: response.status, type: error.type, param: error.param };
  }

  it.each([false, true])(
    'lists a chat completion once it has ended (stream: %s)',
    async (stream) => {
      const key = await access.makeKey({ tenantId: gateway.tenantId });
      const before = Date.now();
      const answer = await gateway.post(
        '/v1/chat/completions',
        { model: 'sandbox/echo', messages: [{ role: 'user', content: 'one two three' }], stream },
        { authorization: `Bearer ${key.plaintext}` },
      );
      await answer.text();

      const { logs, pagination } = await list({ api_key_id: key.id }, key);
      expect(pagination).toEqual({ ...LAST_PAGE, total: 1 });
      // 3 words in at 1 credit, 5 words out ("Sandbox echo: …") at 2 credits.
      expect(logs).toEqual([
        {
          id: expect.stringMatching(/^\d+$/),
          request_id: answer.headers.get('x-request-id'),
          model: 'sandbox/echo',
          provider: 'sandbox',
          status: 'success',
          traffic_mode: 'shared',
          tokens: { prompt: 3, completion: 5, total: 8 },
          cost: 13,
          cost_breakdown: {
            model_charge: 13,
            byok_platform_fee: 0,
            managed_tool_fee: 0,
            agent_runtime_fee: 0,
            total_charge: 13,
          },
          skills_used: [],
          billing_note: null,
          latency_ms: expect.any(Number),
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          endpoint: 'chat',
          api_key_id: key.id,
          outcome: 'completed',
          error_type: null,
          usage_source: 'upstream',
          first_token_ms: expect.any(Number),
          tokens_per_second: logs[0]!.tokens_per_second,
          vendor_cost: 13,
          attempts: [
            {
              route: 'sandbox/sandbox/echo',
              outcome: 'answered',
              status: 200,
              started_ms: expect.any(Number),
              duration_ms: expect.any(Number),
              vendor_cost: 13,
            },
          ],
          recovered: false,
          end_user: null,
          tags: {},
          asked: null,
          config_version: 1,
        },
      ]);
      const createdAtMs = Date.parse(logs[0]!.created_at);
      expect(createdAtMs).toBeGreaterThanOrEqual(before);
      expect(createdAtMs).toBeLessThanOrEqual(Date.now());
      expect(Number.isInteger(logs[0]!.latency_ms)).toBe(true);
    },
  );

  it('shows further request options, by body and header', async () => {
    const key = await access.makeKey({ tenantId: gateway.tenantId });
    const authorization = `Bearer ${key.plaintext}`;
    const answer = await gateway.post(
      '/v1/chat/completions',
      {
        ...{ model: 'sandbox/echo', models: ['sandbox/words'], max_tokens: 50 },
        messages: [{ role: 'user', content: 'Hi' }],
        provider: { only: ['sandbox'] },
      },
      { authorization, 'x-gateway-max-cost': '5000' },
    );
    expect(answer.status).toBe(200);
    const { logs } = await list({ api_key_id: key.id }, key);
    expect(logs).toMatchObject([
      {
        asked: {
          ...{ models: ['sandbox/echo', 'sandbox/words'], only: ['sandbox'] },
          ...{ max_cost: 5_000, max_cost_mode: 'strict', max_tokens: 50 },
        },
      },
    ]);
  });

  it('lists a failed request as an error that cost nothing', async () => {
    const key = await access.makeKey({ tenantId: gateway.tenantId });
    const answer = await gateway.post(
      '/v1/chat/completions',
      { model: 'sandbox/fault-500', messages: [{ role: 'user', content: 'fail' }] },
      { authorization: `Bearer ${key.plaintext}` },
    );
    expect(answer.status).toBe(502);
    const { logs } = await list({ api_key_id: key.id, status: 'error' }, key);
    expect(logs).toMatchObject([
      {
        request_id: answer.headers.get('x-request-id'),
        model: 'sandbox/fault-500',
        status: 'error',
        outcome: 'failed',
        error_type: 'provider_error',
        cost: 0,
        usage_source: 'none',
      },
    ]);
    expect((await list({ api_key_id: key.id, status: 'success' }, key)).logs).toEqual([]);
  });

  it('is empty for a tenant without requests', async () => {
    const { key } = await makeTenant();
    expect(await list({}, key)).toEqual({
      logs: [],
      pagination: { ...LAST_PAGE, total: 0 },
    });
  });

  it('shows 50 rows, at most 100, and says whether more follow', async () => {
    const { tenantId, key } = await makeTenant();
    const ids: string[] = [];
    for (let row = 0; row < 101; row++) ids.unshift((await insert(tenantId)).id);

    const byDefault = await list({}, key);
    const whole = { total: 101, total_is_exact: true };
    const more = { has_more: true, next_cursor: expect.any(String) };
    expect(byDefault.pagination).toEqual({ ...whole, ...more, limit: 50, offset: 0 });
    const capped = await list({ limit: '1000' }, key);
    expect(capped.pagination).toEqual({ ...whole, ...more, limit: 100, offset: 0 });
    const rest = await list({ limit: '100', offset: '100' }, key);
    expect(rest.pagination).toEqual({ ...LAST_PAGE, total: 101, limit: 100, offset: 100 });
    const exact = await list({ limit: '51', offset: '50' }, key);
    expect(exact.pagination).toEqual({ ...LAST_PAGE, total: 101, limit: 51, offset: 50 });
    const beyond = await list({ offset: String(Number.MAX_SAFE_INTEGER) }, key);
    expect(beyond).toMatchObject({ logs: [], pagination: { total: 101, has_more: false } });

    // A page starts at its cursor, whatever was added since.
    const newer = (await insert(tenantId)).id;
    const cursor = String(byDefault.pagination.next_cursor);
    const next = await list({ cursor, limit: '51' }, key);
    expect(next.pagination).toEqual({ ...LAST_PAGE, total: 101, limit: 51 });
    expect([...idsOf(byDefault), ...idsOf(next)]).toEqual(ids);
    expect(idsOf(await list({ limit: '1' }, key))).toEqual([newer]);

    expect(idsOf(byDefault)).toEqual(ids.slice(0, 50));
    expect([...idsOf(capped), ...idsOf(rest)]).toEqual(ids);
    expect(idsOf(exact)).toEqual(ids.slice(50));
  });

  describe('with filters', () => {
    let key: MadeKey;
    let otherKey: MadeKey;
    const names = new Map<string, string>();

    beforeAll(async () => {
      const tenant = await makeTenant();
      key = tenant.key;
      otherKey = await access.makeKey({ tenantId: tenant.tenantId });
      const rows: Record<string, Partial<RequestLogRow>> = {
        january: { createdAt: new Date('2026-01-31T23:59:59.999Z') },
        midnight: { createdAt: new Date('2026-02-01T00:00:00Z'), model: 'sandbox/words' },
        evening: {
          createdAt: new Date('2026-02-01T23:59:59.999Z'),
          status: 'error',
          outcome: 'failed',
        },
        next: { createdAt: new Date('2026-02-02T00:00:00Z'), apiKeyId: otherKey.id },
        hostile: { createdAt: new Date('2026-03-01T00:00:00Z'), model: 'a\u0000%/_\\' },
      };
      for (const [name, overrides] of Object.entries(rows)) {
        names.set((await insert(tenant.tenantId, overrides)).id, name);
      }
    });

    async function expectRows(query: Record<string, string>, expected: string[]): Promise<void> {
      const answer = await list(query, key);
      expect(idsOf(answer).map((id) => names.get(id))).toEqual(expected);
      expect(answer.pagination.total).toBe(expected.length);
    }

    it.each<[Record<string, string>, string[]]>([
      [{ status: 'error' }, ['evening']],
      [{ status: 'success' }, ['hostile', 'next', 'midnight', 'january']],
      [{ model: 'sandbox/words' }, ['midnight']],
      [{ model: 'sandbox' }, []],
      [{ model: 'SANDBOX/WORDS' }, []],
      [{ model: '%' }, []],
      [{ model: "' OR true --" }, []],
      [{ model: '\u0000' }, []],
      [{ model: 'a\u0000%/_\\' }, ['hostile']],
      [{ start_date: '2026-02-01' }, ['hostile', 'next', 'evening', 'midnight']],
      [{ end_date: '2026-02-01' }, ['evening', 'midnight', 'january']],
      [{ start_date: '2026-02-01', end_date: '2026-02-01' }, ['evening', 'midnight']],
      [
        { start_date: '2026-02-01T00:00:00.001Z', end_date: '2026-02-02T00:00:00Z' },
        ['next', 'evening'],
      ],
      [{ start_date: '2026-02-01T01:00:00+01:00', end_date: '2026-02-01T00:00' }, ['midnight']],
      [{ start_date: '2026-03-01', end_date: '2026-02-01' }, []],
      [{ start_date: '0000-01-01', end_date: '0001-01-01' }, []],
      [{ start_date: '2026-03-01', end_date: '9999-12-31' }, ['hostile']],
      [{ start_date: '2026-02-01', status: 'success', model: 'sandbox/words' }, ['midnight']],
    ])('selects the right rows for %j', async (query, expected) => {
      await expectRows(query, expected);
    });

    it('distinguishes the tenant’s keys, whatever the case of their ids', async () => {
      await expectRows({ api_key_id: otherKey.id }, ['next']);
      await expectRows({ api_key_id: otherKey.id.toUpperCase() }, ['next']);
      await expectRows({ api_key_id: key.id }, []);
    });

    it('accepts the plus of an offset that was not encoded', async () => {
      const answer = await gateway.fetch(
        `${PATH}?start_date=2026-02-01T01:00:00+01:00&end_date=2026-02-01T01:00:00+01:00`,
        { headers: { authorization: `Bearer ${key.plaintext}` } },
      );
      expect(idsOf((await answer.json()) as LogListDto).map((id) => names.get(id))).toEqual([
        'midnight',
      ]);
    });

    it.each([
      ...['0', '-1', '2.5', 'ten', '', '1e2'].map((limit) => [{ limit }, 'limit'] as const),
      ...['-1', 'x', '', '9007199254740992'].map((offset) => [{ offset }, 'offset'] as const),
      ...['ok', 'SUCCESS', ''].map((status) => [{ status }, 'status'] as const),
      ...[
        '2026-02-30',
        '2027-02-29',
        '2026-13-01',
        'yesterday',
        '',
        '\u0000',
        '1767225600',
      ].flatMap(
        (date) =>
          [
            [{ start_date: date }, 'start_date'],
            [{ end_date: date }, 'end_date'],
          ] as const,
      ),
      [{ model: '' }, 'model'],
      [{ tenant_id: 'other' }, 'tenant_id'],
      [{ cursor: 'x' }, 'cursor'],
      ['limit=1&limit=2', 'limit'],
      ['model=a/b&model=a/c', 'model'],
      ['start_date=2026-01-01&start_date=2026-01-02', 'start_date'],
    ])('rejects %j, naming %s', async (query, param) => {
      expect(await refusal(query as Record<string, string> | string, key)).toEqual({
        status: 400,
        type: 'invalid_request_error',
        param,
      });
    });

    it('finds no key by an unknown, malformed or foreign id', async () => {
      const other = await makeTenant();
      for (const id of [randomUUID(), 'x', '', '\u0000', other.key.id, gateway.tenantId]) {
        expect(await refusal({ api_key_id: id }, key)).toEqual({
          status: 404,
          type: 'not_found_error',
          param: 'api_key_id',
        });
      }
    });
  });

  describe('related paths', () => {
    async function read<Answer>(path: string, key: MadeKey): Promise<Answer> {
      const response = await gateway.fetch(`${PATH}/${path}`, {
        headers: { authorization: `Bearer ${key.plaintext}` },
      });
      expect([path, response.status]).toEqual([path, 200]);
      return (await response.json()) as Answer;
    }

    it('show rows of the tenant that are newer than a row, the latest first', async () => {
      const [own, other] = [await makeTenant(), await makeTenant()];
      const first = await insert(own.tenantId);
      // A slow request arrived earlier than one that ended before it.
      const slow = await insert(own.tenantId, { createdAt: new Date('2026-01-15T11:00:00Z') });
      await insert(other.tenantId);
      const failed = await insert(own.tenantId, { status: 'error', outcome: 'failed' });
      const since = (query: string) =>
        read<NewerLogsDto>(`newer?since_id=${first.id}${query}`, own.key);
      expect(await since('')).toMatchObject({
        data: [{ id: failed.id }, { id: slow.id }],
        has_more: false,
      });
      expect(await since('&limit=1')).toMatchObject({ data: [{ id: failed.id }], has_more: true });
      expect((await since('&status=error')).data).toHaveLength(1);
      expect((await read<NewerLogsDto>(`newer?since_id=${failed.id}`, own.key)).data).toEqual([]);
    });

    it('show one row, and the tenant’s filter values', async () => {
      const [own, other] = [await makeTenant(), await makeTenant()];
      const row = await insert(own.tenantId, {
        apiKeyId: own.key.id,
        streamed: true,
        createdAt: new Date(),
        tags: { team: 'search' },
      });
      await gateway.database.query(
        `INSERT INTO guardrail_events (tenant_id, guardrail_id, request_id, action, direction, created_at)
         VALUES ($1, $2, $3, 'log', 'output', now())`,
        [own.tenantId, randomUUID(), row.requestId],
      );
      expect(await read(row.requestId, own.key)).toMatchObject({
        id: row.id,
        request_id: row.requestId,
        streamed: true,
        finish_reason: 'stop',
        generation_time_ms: 100,
        guardrails: [{ name: null, action: 'log', direction: 'output' }],
      });
      expect(await read('facets', own.key)).toEqual({
        models: ['sandbox/echo'],
        providers: ['sandbox'],
        endpoints: ['chat'],
        api_keys: [{ id: own.key.id, name: expect.any(String) }],
        tags: [{ key: 'team', values: ['search'] }],
      });
      expect((await read<LogFacetsDto>('facets', other.key)).models).toEqual([]);
      for (const [id, key] of [
        [row.requestId, other.key],
        [randomUUID(), own.key],
        ['x', own.key],
      ] as const) {
        const answer = await gateway.fetch(`${PATH}/${id}`, {
          headers: { authorization: `Bearer ${key.plaintext}` },
        });
        expect([id, answer.status]).toEqual([id, 404]);
      }
    });

    it.each([
      ['newer?since_id=x', 'since_id'],
      ['newer?since_id=1&cursor=x', 'cursor'],
      ['newer?since_id=1&min_cost=-1', 'min_cost'],
      ['newer?since_id=1&api_key_id=x', 'api_key_id'],
      ['newer?since_id=1&limit=0', 'limit'],
      ['facets?start_date=x', 'start_date'],
      ['facets?model=x', 'model'],
    ])('reject %s, naming %s', async (path, param) => {
      const { key } = await makeTenant();
      const answer = await gateway.fetch(`${PATH}/${path}`, {
        headers: { authorization: `Bearer ${key.plaintext}` },
      });
      expect([answer.status, ((await answer.json()) as ErrorBody).error.param]).toEqual([
        400,
        param,
      ]);
    });
  });

  it('shows and counts nothing of another tenant, with any filter', async () => {
    const [own, other] = [await makeTenant(), await makeTenant()];
    const shared = { model: 'sandbox/shared', createdAt: new Date('2026-01-15T12:00:00Z') };
    const row = await insert(own.tenantId, { ...shared, apiKeyId: own.key.id });
    // Even a row with our key belongs to the tenant in its own column.
    await insert(other.tenantId, { ...shared, apiKeyId: own.key.id });
    await insert(other.tenantId, { ...shared, apiKeyId: other.key.id });

    const queries: Record<string, string>[] = [
      {},
      { model: shared.model },
      { status: 'success' },
      { api_key_id: own.key.id },
      { start_date: '2026-01-15', end_date: '2026-01-15' },
    ];
    for (const query of queries) {
      const answer = await list(query, own.key);
      expect(idsOf(answer)).toEqual([row.id]);
      expect(answer.pagination).toMatchObject({ total: 1, has_more: false });
    }
  });

  it('accepts a management key', async () => {
    expect((await get({}, gateway.managementKey)).status).toBe(200);
  });

  it.each(['', 'Bearer sk-unknown-key-of-nobody'])('answers 401 to %j', async (authorization) => {
    const response = await gateway.fetch(PATH, { headers: { authorization } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { param: 'authorization', code: 401 } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

function idsOf(answer: LogListDto): string[] {
  return answer.logs.map((row) => row.id);
}
