import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnalyticsDto } from '../../src/features/customer/analytics/analytics.dto.js';
import type { LogListDto } from '../../src/features/customer/logs/logs.dto.js';
import type {
  TenantLedgerEntryDto as EntryDto,
  TenantLedgerEntryListDto as EntryPage,
} from '../../src/features/customer/ledger-entries/ledger-entries.dto.js';
import type { StatementDto } from '../../src/features/customer/statements/statements.dto.js';
import {
  openAccessServices,
  type AccessServices,
  type MadeKey,
} from '../support/access-services.js';
import type { LogGroupListDto } from '../../src/core/request-log/log-groups.dto.js';
import type { AdminLogListDto } from '../../src/features/admin/logs/admin-logs.controller.js';
import type { MarginListDto } from '../../src/features/admin/usage/usage.dto.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';

const LOGS = '/v1/customer/logs';
const EXPORT = `${LOGS}/export.csv`;
const ANALYTICS = '/v1/customer/analytics';
const STATEMENTS = '/v1/customer/statements';
const ENTRIES = '/v1/customer/ledger-entries';
const THIS_MONTH = new Date().toISOString().slice(0, 7);

let gateway: BootedGateway;
let access: AccessServices;

beforeAll(async () => {
  gateway = await bootGateway();
  access = await openAccessServices(gateway.config.databaseUrl!);
  for (const [model, words] of [
    ['sandbox/echo', 'one two three'],
    ['sandbox/echo', 'one'],
    ['sandbox/fault-500', 'fail'],
  ]) {
    const messages = [{ role: 'user', content: words }];
    await (await gateway.post('/v1/chat/completions', { model, messages })).text();
  }
});
afterAll(async () => {
  await access.close();
  await gateway.close();
});

async function read<Body>(path: string, headers: Record<string, string> = {}): Promise<Body> {
  const response = await gateway.fetch(path, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  return (await response.json()) as Body;
}

async function readCsv(path: string, headers: Record<string, string> = {}): Promise<string[][]> {
  const response = await gateway.fetch(path, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const text = await response.text();
  expect(text.endsWith('\r\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\r\n')
    .map((line) =>
      // The first column is never empty.
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!,
      ),
    );
}

async function makeTenant(name: string): Promise<{ tenantId: string; key: MadeKey }> {
  const tenantId = await access.makeTenant(name);
  return { tenantId, key: await access.makeKey({ tenantId }) };
}

const asKey = ({ plaintext }: MadeKey) => ({ authorization: `Bearer ${plaintext}` });

describe(`GET ${EXPORT}`, () => {
  it('has a header line and a line for each log row, in order', async () => {
    const [header, ...lines] = await readCsv(EXPORT);
    const { logs } = await read<LogListDto>(LOGS);
    const column = (name: string) => lines.map((line) => line[header!.indexOf(name)]);
    expect(header!.length).toBe(34);
    for (const line of lines) expect(line).toHaveLength(34);
    expect(column('request_id')).toEqual(logs.map((row) => row.request_id));
    expect(column('cost')).toEqual(logs.map((row) => String(row.cost)));
    expect(column('tokens_total')).toEqual(logs.map((row) => String(row.tokens.total)));
    expect(column('cost_breakdown_model_charge')).toEqual(
      logs.map((row) => String(row.cost_breakdown.model_charge)),
    );
    expect(column('created_at')).toEqual(logs.map((row) => row.created_at));
  });

  it('returns every row of several batches once, for the requested days only', async () => {
    const { tenantId, key } = await makeTenant('many rows');
    await gateway.database.query(
      `INSERT INTO request_logs (
         request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome,
         traffic_mode, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens,
         reasoning_tokens, usage_source, cost, model_charge, byok_platform_fee, managed_tool_fee,
         streamed, latency_ms, generation_time_ms, created_at)
       SELECT gen_random_uuid(), $1, $2, 'chat', 'm', 'p', 'success', 'completed', 'shared', 1, 1,
         0, 0, 0, 'upstream', 1, 1, 0, 0, false, 5, 5,
         '2026-01-01Z'::timestamptz + make_interval(mins => n) FROM generate_series(0, 3499) AS n`,
      [tenantId, key.id],
    );
    const all = await readCsv(EXPORT, asKey(key));
    expect(all).toHaveLength(3_501);
    expect(new Set(all.map(([id]) => id)).size).toBe(3_501);
    const oneDay = `${EXPORT}?start_date=2026-01-02&end_date=2026-01-02`;
    expect(await readCsv(oneDay, asKey(key))).toHaveLength(1_441);
    expect(await readCsv(`${EXPORT}?start_date=2027-01-01`, asKey(key))).toHaveLength(1);
  });

  it('disarms formulas and quotes where necessary', async () => {
    const { tenantId, key } = await makeTenant('formulas');
    await insertRequestLogRow(gateway.database, tenantId, {
      model: '=HYPERLINK("http://example.org")',
      billingNote: 'a, "b"\nc',
    });
    const text = await (await gateway.fetch(EXPORT, { headers: asKey(key) })).text();
    expect(text).toContain(`,"'=HYPERLINK(""http://example.org"")",`);
    expect(text).toContain(`,"a, ""b""\nc",`);
  });

  it('keeps serving others when a caller disconnects in the middle', async () => {
    const { tenantId, key } = await makeTenant('leaver');
    await gateway.database.query(
      `INSERT INTO request_logs (
         request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome,
         traffic_mode, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens,
         reasoning_tokens, usage_source, cost, model_charge, byok_platform_fee, managed_tool_fee,
         streamed, latency_ms, generation_time_ms, created_at)
       SELECT gen_random_uuid(), $1, $2, 'chat', repeat('m', 200), 'p', 'success', 'completed',
         'shared', 1, 1, 0, 0, 0, 'upstream', 1, 1, 0, 0, false, 5, 5,
         '2026-01-01Z'::timestamptz + make_interval(secs => n)
       FROM generate_series(1, 40000) AS n`,
      [tenantId, key.id],
    );
    for (let caller = 0; caller < 6; caller++) {
      const controller = new AbortController();
      const response = await fetch(gateway.url + EXPORT, {
        headers: asKey(key),
        signal: controller.signal,
      });
      await response.body!.getReader().read();
      controller.abort();
    }
    expect((await gateway.fetch(LOGS)).status).toBe(200);
  });

  it('answers HEAD without the rows', async () => {
    const response = await gateway.fetch(EXPORT, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe(`GET ${ANALYTICS}`, () => {
  it.each(['model', 'provider', 'api_key', 'day', 'hour', 'status'])(
    'agrees with the log, grouped by %s',
    async (grouping) => {
      const { logs } = await read<LogListDto>(LOGS);
      const answer = await read<AnalyticsDto>(`${ANALYTICS}?group_by=${grouping}`);
      expect(answer.group_by).toBe(grouping);
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
      expect(sum(answer.data.map(({ requests }) => requests))).toBe(3);
      expect(sum(answer.data.map(({ errors }) => errors))).toBe(1);
      expect(sum(answer.data.map(({ cost }) => cost))).toBe(sum(logs.map(({ cost }) => cost)));
      expect(sum(answer.data.map(({ tokens }) => tokens.total))).toBe(
        sum(logs.map(({ tokens }) => tokens.total)),
      );
    },
  );

  it('shows each group completely', async () => {
    const { data, total } = await read<AnalyticsDto>(ANALYTICS);
    expect(total).toMatchObject({
      latency_p50: expect.any(Number),
      latency_p95: expect.any(Number),
      latency_p99: expect.any(Number),
    });
    expect(data).toEqual([
      {
        group: 'sandbox/echo',
        groups: { model: 'sandbox/echo' },
        is_rest: false,
        requests: 2,
        errors: 0,
        error_rate: 0,
        tokens: { prompt: 4, completion: 8, total: 12 },
        cost: 20,
        vendor_cost: 20,
        latency_avg: expect.any(Number),
        latency_p50: expect.any(Number),
        latency_p95: expect.any(Number),
        latency_p99: expect.any(Number),
      },
      expect.objectContaining({ group: 'sandbox/fault-500', errors: 1, error_rate: 1, cost: 0 }),
    ]);
  });

  it('groups by two dimensions and filters by tags and end users', async () => {
    const { key } = await makeTenant('tagged');
    const headers = { authorization: `Bearer ${key.plaintext}` };
    for (const [tags, user] of [
      ['team=a,env=x', 'ann'],
      ['team=a', 'bob'],
      ['team=b', 'ann'],
    ]) {
      const answer = await gateway.post(
        '/v1/chat/completions',
        { model: 'sandbox/echo', messages: [{ role: 'user', content: 'one' }], user },
        { ...headers, 'x-gateway-tags': tags! },
      );
      await answer.text();
    }
    const ask = (query: string) => read<AnalyticsDto>(`${ANALYTICS}?${query}`, headers);
    const pairs = await ask('group_by=tag:team,end_user');
    expect(new Set(pairs.data.map(({ group, requests }) => `${group}: ${requests}`))).toEqual(
      new Set(['a, ann: 1', 'a, bob: 1', 'b, ann: 1']),
    );
    expect(pairs).toMatchObject({ group_count: 3, total: { requests: 3 } });
    expect((await ask('group_by=tag:env')).data.map(({ groups }) => groups)).toEqual([
      { 'tag:env': null },
      { 'tag:env': 'x' },
    ]);
    expect((await ask('group_by=end_user&tag=team%3Da')).total.requests).toBe(2);
    expect((await ask('group_by=day&tag=team%3Da&end_user=ann')).total.requests).toBe(1);
    const one = await ask('group_by=tag:team&limit=1');
    expect([one.data.length, one.group_count, one.total.requests]).toEqual([1, 2, 3]);
    for (const query of [
      'group_by=tenant',
      'group_by=a,b',
      'tag=team',
      'group_by=model,day,hour',
    ]) {
      const response = await gateway.fetch(`${ANALYTICS}?${query}`, { headers });
      expect(response.status).toBe(400);
    }
  });

  it('counts the requested days, including all of the last one', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const inside = `${ANALYTICS}?group_by=day&start_date=${today}&end_date=${today}`;
    expect((await read<AnalyticsDto>(inside)).data).toMatchObject([
      { group: `${today}T00:00:00Z`, requests: 3 },
    ]);
    const outside = `${ANALYTICS}?group_by=day&end_date=2026-01-01`;
    expect((await read<AnalyticsDto>(outside)).data).toEqual([]);
  });
});

describe(`GET ${ENTRIES}`, () => {
  /** Returns all entries of the list, in pages of this size. */
  async function walk(query: string, limit: number, headers = {}): Promise<EntryDto[]> {
    const entries: EntryDto[] = [];
    let cursor: string | null = null;
    do {
      const place: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page: EntryPage = await read(`${ENTRIES}?limit=${limit}${query}${place}`, headers);
      entries.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return entries;
  }

  it('has the balance after each entry, newest first', async () => {
    const entries = await walk('', 2);
    expect(entries.map(({ kind, amount, balance_after: after }) => [kind, amount, after])).toEqual([
      ['charge', -7, 9_999_980],
      ['charge', -13, 9_999_987],
      ['grant', 10_000_000, 10_000_000],
    ]);
    const charges = await walk('&kind=charge', 1);
    expect(charges.map(({ amount, balance_after: after }) => [amount, after])).toEqual([
      [-7, null],
      [-13, null],
    ]);
    const months = await read<{ data: unknown }>(STATEMENTS);
    expect(months).toEqual({ data: [{ month: THIS_MONTH, spent: 20, requests: 3 }] });
  });

  it('has no gaps between pages, and starts a month with the previous closing balance', async () => {
    const { tenantId, key } = await makeTenant('several months');
    // Three entries per millisecond.
    await gateway.database.query(
      `INSERT INTO ledger_entries (tenant_id, kind, amount, created_at)
       SELECT $1, 'grant', n, '2026-01-31 23:59:59.990Z'::timestamptz + n * interval '300 microseconds'
       FROM generate_series(1, 40) AS n`,
      [tenantId],
    );
    await gateway.database.query('UPDATE accounts SET balance = 820 WHERE tenant_id = $1', [
      tenantId,
    ]);
    const all = await walk('', 7, asKey(key));
    expect(all.map(({ amount }) => amount)).toEqual(Array.from({ length: 40 }, (_, n) => 40 - n));
    expect(all.at(-1)?.balance_after).toBe(1);
    const january = await walk('&month=2026-01', 7, asKey(key));
    expect(january).toEqual(all.filter(({ created_at: at }) => at.startsWith('2026-01')));
    const { closing_balance: closing } = await read<StatementDto>(
      `${STATEMENTS}/2026-01`,
      asKey(key),
    );
    expect(january[0]?.balance_after).toBe(closing);
    expect(await walk('&month=2025-12', 7, asKey(key))).toEqual([]);
    const [header, ...lines] = await readCsv(`${ENTRIES}/export.csv?month=2026-01`, asKey(key));
    const column = (name: string) => lines.map((line) => line[header!.indexOf(name)]);
    expect(column('id')).toEqual(january.map(({ id }) => id));
    expect(column('balance_after')).toEqual(
      january.map(({ balance_after: after }) => String(after)),
    );
  });

  it('rejects the cursor of another list', async () => {
    const { next_cursor: cursor } = await read<EntryPage>(`${ENTRIES}?limit=1&kind=charge`);
    const response = await gateway.fetch(`${ENTRIES}?cursor=${cursor}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'cursor' } });
  });
});

describe(`GET ${STATEMENTS}/{month}`, () => {
  it('adds up to the credit', async () => {
    const statement = await read<StatementDto>(`${STATEMENTS}/${THIS_MONTH}`);
    const { month, opening_balance, closing_balance, totals, entries } = statement;
    expect([month, opening_balance]).toEqual([THIS_MONTH, 0]);
    expect(totals).toEqual({
      grant: 10_000_000,
      correction: 0,
      charge: -20,
      shortfall: 0,
      refund: 0,
      net: 9_999_980,
    });
    expect(closing_balance).toBe(9_999_980);
    expect(entries.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['grant', 10_000_000],
      ['charge', -13],
      ['charge', -7],
    ]);
    const { logs } = await read<LogListDto>(`${LOGS}?status=success`);
    expect(entries.map(({ request_id }) => request_id)).toEqual([
      null,
      ...logs.map(({ request_id }) => request_id).reverse(),
    ]);
    const credits = await read<{ balance: { total: number } }>('/v1/customer/credits');
    expect(credits.balance.total).toBe(closing_balance);
  });

  it('splits the month by one or two dimensions, of all requests or of some', async () => {
    const whole = await read<StatementDto>(`${STATEMENTS}/${THIS_MONTH}?group_by=model,status`);
    const analytics = await read<AnalyticsDto>(`${ANALYTICS}?group_by=model,status`);
    expect(whole.entries).toEqual([]);
    expect(whole.closing_balance).toBe(9_999_980);
    expect(whole.requests?.total.cost).toBe(20);
    expect(whole.requests?.data.map(({ groups, cost }) => [groups, cost])).toEqual(
      analytics.data.map(({ groups, cost }) => [groups, cost]),
    );
    const some = await read<StatementDto>(`${STATEMENTS}/${THIS_MONTH}?tag=team=nobody`);
    expect(some.requests).toMatchObject({ group_by: 'model', data: [], total: { requests: 0 } });
    const [header, ...lines] = await readCsv(`${STATEMENTS}/${THIS_MONTH}?group_by=status`, {
      accept: 'text/csv',
    });
    expect(header?.slice(0, 2)).toEqual(['status', 'requests']);
    expect(lines.map(([status]) => status).sort()).toEqual(
      [...new Set(analytics.data.map(({ groups }) => groups.status))].sort(),
    );
  });

  it.each(['group_by=team', 'group_by=model,day,hour', 'tag=team', 'start_date=2026-01-01'])(
    'rejects %s, naming it',
    async (query) => {
      const response = await gateway.fetch(`${STATEMENTS}/${THIS_MONTH}?${query}`, {
        headers: { authorization: `Bearer ${gateway.managementKey}` },
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: query.split('=')[0] } });
    },
  );

  it('is empty for a month without entries', async () => {
    expect(await read<StatementDto>(`${STATEMENTS}/2001-01`)).toEqual({
      month: '2001-01',
      opening_balance: 0,
      closing_balance: 0,
      totals: { grant: 0, correction: 0, charge: 0, shortfall: 0, refund: 0, net: 0 },
      entries: [],
    });
  });

  it.each(['text/csv', 'text/csv, application/json;q=0.5'])('is CSV for %s', async (accept) => {
    const [header, ...lines] = await readCsv(`${STATEMENTS}/${THIS_MONTH}`, { accept });
    expect(header).toEqual(['id', 'created_at', 'kind', 'amount', 'request_id']);
    expect(lines.map(([, , kind, amount]) => [kind, amount])).toEqual([
      ['grant', '10000000'],
      ['charge', '-13'],
      ['charge', '-7'],
    ]);
  });

  it.each(['*/*', 'application/json', 'application/xml', ''])('is JSON for %j', async (accept) => {
    const statement = await read<StatementDto>(`${STATEMENTS}/${THIS_MONTH}`, { accept });
    expect(statement.entries).toHaveLength(3);
  });

  it('streams a large month', async () => {
    const { tenantId, key } = await makeTenant('large month');
    await gateway.database.query(
      `INSERT INTO ledger_entries (tenant_id, kind, amount, created_at)
       SELECT $1, 'grant', n, '2026-01-01Z'::timestamptz + make_interval(secs => n)
       FROM generate_series(1, 12000) AS n`,
      [tenantId],
    );
    const path = `${STATEMENTS}/2026-01`;
    const statement = await read<StatementDto>(path, asKey(key));
    expect(statement.entries).toHaveLength(12_000);
    const sum = statement.entries.reduce((total, { amount }) => total + amount, 0);
    expect(sum).toBe((12_000 * 12_001) / 2);
    expect(statement.totals.grant).toBe(sum);
    const lines = await readCsv(path, { ...asKey(key), accept: 'text/csv' });
    expect(lines).toHaveLength(12_001);
  });
});

describe('reports over all tenants', () => {
  const headers = () => ({ authorization: `Bearer ${gateway.adminKey}` });

  it('are added up by tenant, with vendor costs', async () => {
    const usage = await read<LogGroupListDto>('/v1/admin/usage?group_by=tenant,model', headers());
    const own = usage.data.find(({ groups }) => groups.tenant === gateway.tenantId);
    expect(own).toMatchObject({ groups: { model: 'sandbox/echo' }, cost: 20, requests: 2 });
    const margin = await read<MarginListDto>(
      `/v1/admin/margin?group_by=route&tenant_id=${gateway.tenantId}`,
      headers(),
    );
    expect(margin.data[0]).toEqual({
      groups: { route: 'sandbox/sandbox/echo' },
      is_rest: false,
      requests: 2,
      charged: 20,
      shortfall: 0,
      refunded: 0,
      vendor_cost: 20,
      margin: 0,
    });
    expect(margin.total).toMatchObject({ requests: 3, charged: 20 });
  });

  it('are listed in pages', async () => {
    const path = `/v1/admin/logs?tenant_id=${gateway.tenantId}&limit=2`;
    const first = await read<AdminLogListDto>(path, headers());
    expect(first).toMatchObject({ object: 'list', has_more: true });
    const rest = await read<AdminLogListDto>(`${path}&cursor=${first.next_cursor}`, headers());
    expect(rest).toMatchObject({ has_more: false, next_cursor: null });
    const { logs } = await read<LogListDto>(LOGS);
    const tenant = { tenant_id: gateway.tenantId };
    expect([...first.data, ...rest.data]).toEqual(logs.map((row) => ({ ...row, ...tenant })));
  });

  it.each([
    ['/v1/admin/usage?group_by=user', 'group_by'],
    ['/v1/admin/margin?tenant_id=x', 'tenant_id'],
    ['/v1/admin/logs?tag=x', 'tag'],
    ['/v1/admin/logs?cursor=x', 'cursor'],
    ['/v1/admin/logs?limit=201', 'limit'],
  ])('reject %s, naming %s', async (path, param) => {
    const response = await gateway.fetch(path, { headers: headers() });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it.each(['/v1/admin/usage', '/v1/admin/margin', '/v1/admin/logs'])(
    'are not available to tenants’ keys: %s',
    async (path) => {
      expect((await gateway.fetch(path)).status).toBe(403);
    },
  );
});
