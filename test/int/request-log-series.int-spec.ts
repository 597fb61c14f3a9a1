import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/platform/database/database.js';
import {
  LOG_DIMENSIONS,
  readDimensions,
  type LogFilters,
  type LogPlace,
} from '../../src/core/request-log/log-dimensions.js';
import { RequestLogFacetsReader } from '../../src/core/request-log/request-log-facets.reader.js';
import {
  RequestLogGroupsReader,
  type LogGroup,
  type LogGroupQuery,
} from '../../src/core/request-log/request-log-groups.reader.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';
import { RequestLogOverTenantsReader } from '../../src/core/request-log/request-log-over-tenants.reader.js';
import type { TenantLogRow } from '../../src/core/request-log/stored-row.js';
import type {
  RequestLogFilters,
  TenantLogFilters,
} from '../../src/core/request-log/request-log-filters.js';
import { RequestLogReader } from '../../src/core/request-log/request-log.reader.js';
import { RequestLogRollUpService } from '../../src/core/request-log/request-log-roll-up.service.js';
import { insertRequestLogRow, noArchive } from '../support/request-log-rows.js';
import { rollUpAll } from '../support/roll-up-all.js';
import { LOG_SUMS } from '../../src/features/admin/tenants/tenant-data.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

interface Range {
  start?: Date;
  end?: Date;
}

const DIMENSIONS = [...LOG_DIMENSIONS, 'tag:team', 'tag:env'];
const PAIRS = DIMENSIONS.flatMap((one, index) =>
  DIMENSIONS.slice(index).map((other) => (one === other ? one : `${one},${other}`)),
);
const NOW_MS = Date.UTC(2026, 2, 10, 12);
const minutesAgo = (minutes: number) => new Date(NOW_MS - minutes * 60_000);
/** Months, days, hours and partial ones. */
const RANGES: Range[] = [
  {},
  { start: minutesAgo(60_003), end: minutesAgo(901) },
  { start: minutesAgo(20_000) },
  { start: new Date('2026-02-01'), end: new Date('2026-03-01') },
  { start: minutesAgo(1_200), end: minutesAgo(1_170) },
];

let testDatabase: TestDatabase;
let database: Database;
let reader: RequestLogGroupsReader;
let rollUp: RequestLogRollUpService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  reader = new RequestLogGroupsReader(database, noArchive());
  rollUp = new RequestLogRollUpService(database);
});
afterAll(() => testDatabase.drop());

/** A row that combines the values of the others in varying ways. */
function someRow(index: number, keys: readonly string[]): Partial<RequestLogRow> {
  const failed = index % 7 === 0;
  return {
    apiKeyId: keys[index % 2]!,
    endpoint: index % 4 === 0 ? 'messages' : 'chat',
    model: ['sandbox/echo', 'back\\slash\u0000'][index % 2]!,
    provider: index % 3 === 0 ? 'one' : 'two',
    status: failed ? 'error' : 'success',
    outcome: failed ? 'failed' : 'completed',
    promptTokens: index,
    completionTokens: 2 * index,
    cost: failed ? 0 : 3 * index,
    modelCharge: failed ? 0 : 3 * index,
    vendorCost: index % 5 === 0 ? null : 4 * index,
    latencyMs: index * 37,
    endUser: [null, 'ann', 'b\\ob'][index % 3]!,
    tags: [null, { team: 'a' }, { team: 'b\\', env: 'x' }, { env: 'y' }][index % 4]!,
    createdAt: minutesAgo((index * 7_919) % 90_000),
  };
}

function valueOf(row: RequestLogRow, dimension: string): string | null {
  const iso = row.createdAt.toISOString();
  switch (dimension) {
    case 'month':
      return `${iso.slice(0, 7)}-01T00:00:00Z`;
    case 'day':
      return `${iso.slice(0, 10)}T00:00:00Z`;
    case 'hour':
      return `${iso.slice(0, 13)}:00:00Z`;
    case 'api_key':
      return row.apiKeyId;
    case 'end_user':
      return row.endUser;
    case 'route':
      return `${row.provider}/${row.model}`;
    case 'model':
    case 'provider':
    case 'endpoint':
    case 'status':
      return row[dimension];
    default:
      return row.tags?.[dimension.slice('tag:'.length)] ?? null;
  }
}

/** Computes the expected groups from the rows. */
function addUp(rows: readonly RequestLogRow[], dimensions: readonly string[]) {
  const groups = new Map<string, number[]>();
  for (const row of rows) {
    const name = JSON.stringify(dimensions.map((dimension) => valueOf(row, dimension)));
    const sums = groups.get(name) ?? [0, 0, 0, 0, 0, 0, 0];
    const added = [
      1,
      row.status === 'error' ? 1 : 0,
      row.promptTokens,
      row.completionTokens,
      row.cost,
      row.vendorCost ?? 0,
      row.latencyMs,
    ];
    groups.set(
      name,
      sums.map((sum, index) => sum + added[index]!),
    );
  }
  return groups;
}

const figuresOf = (groups: readonly LogGroup[]) =>
  new Map(
    groups.map((group) => [
      JSON.stringify(group.values),
      [
        group.requests,
        group.errors,
        group.promptTokens,
        group.completionTokens,
        group.cost,
        group.vendorCost,
        group.latencyMs,
      ],
    ]),
  );

const isIn = ({ createdAt }: RequestLogRow, { start, end }: Range) =>
  (!start || createdAt >= start) && (!end || createdAt < end);

describe('the series of requests', () => {
  const tenantId = randomUUID();
  const keys = [randomUUID(), randomUUID()];
  const rows: RequestLogRow[] = [];
  const insert = async (from: number, to: number): Promise<void> => {
    for (let index = from; index < to; index++) {
      rows.push(await insertRequestLogRow(database, tenantId, someRow(index, keys)));
    }
  };
  const groupsOf = (groupBy: string, range: Range, filters: LogFilters = {}) =>
    reader.groups({
      tenantId,
      dimensions: readDimensions(groupBy),
      filters,
      range,
      limit: 10_000,
    });

  beforeAll(async () => {
    await insert(0, 100);
    await rollUpAll(database, rollUp);
    await insert(100, 170);
    await rollUpAll(database, rollUp);
    // A row that was swept as crashed settles after all.
    for (const index of [20, 150]) {
      const row = rows[index]!;
      Object.assign(row, { cost: 999, vendorCost: 1_000, endUser: 'late', tags: { team: 'c' } });
      await database.query(
        `UPDATE request_logs SET cost = 999, model_charge = 999, vendor_cost = 1000, end_user = 'late',
           tags = '{"team": "c"}' WHERE id = $1`,
        [row.id],
      );
      if (index === 20) await rollUpAll(database, rollUp);
    }
    // These are not rolled up.
    await insert(170, 200);
  });

  it.each(PAIRS)('add up exactly by %s', async (groupBy) => {
    const turn = 1 + (PAIRS.indexOf(groupBy) % (RANGES.length - 1));
    for (const range of [RANGES[0]!, RANGES[turn]!]) {
      const { groups, count, total } = await groupsOf(groupBy, range);
      const expected = addUp(
        rows.filter((row) => isIn(row, range)),
        groupBy.split(','),
      );
      expect(figuresOf(groups)).toEqual(expected);
      expect(count).toBe(groups.length);
      expect(total.cost).toBe(groups.reduce((sum, { cost }) => sum + cost, 0));
    }
  });

  it.each<[string, LogFilters, (row: RequestLogRow) => boolean]>([
    ['a tag', { tags: { team: 'a' } }, ({ tags }) => tags?.team === 'a'],
    ['two tags', { tags: { team: 'b\\', env: 'x' } }, ({ tags }) => tags?.env === 'x'],
    ['an end user', { endUser: 'b\\ob' }, ({ endUser }) => endUser === 'b\\ob'],
    [
      'a key and a status',
      { apiKeyId: keys[1], status: 'error' },
      (row) => row.apiKeyId === keys[1] && row.status === 'error',
    ],
    [
      'provider, model and endpoint',
      { provider: 'one', model: 'sandbox/echo', endpoint: 'chat' },
      (row) => row.provider === 'one' && row.model === 'sandbox/echo' && row.endpoint === 'chat',
    ],
    ['an unused value', { endUser: 'nobody' }, () => false],
  ])('add up exactly with a filter for %s', async (_, filters, isLeft) => {
    for (const groupBy of ['model,day', 'end_user,tag:team', 'hour']) {
      for (const range of RANGES) {
        const { groups } = await groupsOf(groupBy, range, filters);
        const left = rows.filter((row) => isIn(row, range) && isLeft(row));
        expect(figuresOf(groups)).toEqual(addUp(left, groupBy.split(',')));
      }
    }
  });

  it('add up exactly over any range, as rows and as both kinds of sums', async () => {
    const groupings = [
      'day',
      'model',
      'end_user,hour',
      'tag:env',
      'tag:team,month',
      'route,api_key',
    ];
    const onlyAnn = { endUser: 'ann' };
    for (let turn = 0; turn < 30; turn++) {
      const [from, to] = [turn * 7_919 + 1, turn * 104_729 + 2].map((some) => some % 90_000);
      const cut = turn % 3 === 0 ? 60 : 1;
      const ends = [from!, to!].map((minutes) => minutesAgo(Math.floor(minutes / cut) * cut));
      const [start, end] = ends.sort((one, other) => one.getTime() - other.getTime());
      const groupBy = groupings[turn % groupings.length]!;
      for (const filters of [{}, onlyAnn]) {
        const { groups } = await groupsOf(groupBy, { start, end }, filters);
        const left = rows.filter(
          (row) =>
            isIn(row, { start, end }) && (filters === onlyAnn ? row.endUser === 'ann' : true),
        );
        expect([start, figuresOf(groups)]).toEqual([start, addUp(left, groupBy.split(','))]);
      }
    }
  });

  it('return the most expensive groups, times in order, and the total', async () => {
    const all = await groupsOf('end_user,api_key', {});
    const some = await reader.groups({
      tenantId,
      dimensions: readDimensions('end_user,api_key'),
      filters: {},
      range: {},
      limit: 2,
    });
    expect(some).toEqual({ ...all, groups: all.groups.slice(0, 2) });
    const costs = all.groups.map(({ cost }) => cost);
    expect(costs).toEqual([...costs].sort((one, other) => other - one));
    const days = (await groupsOf('model,day', {})).groups.map(({ values }) => values[1]!);
    expect(days).toEqual([...days].sort());
  });

  it.each<[string, TenantLogFilters, (row: RequestLogRow) => boolean]>([
    ['everything', {}, () => true],
    ['a tag', { tags: { team: 'a' } }, ({ tags }) => tags?.team === 'a'],
    ['an end user', { endUser: 'ann' }, ({ endUser }) => endUser === 'ann'],
    ['a tenant', { tenantId, status: 'error' }, ({ status }) => status === 'error'],
    [
      'several filters',
      { endUser: 'ann', tags: { team: 'a' }, status: 'success' },
      (row) => row.endUser === 'ann' && row.tags?.team === 'a' && row.status === 'success',
    ],
    [
      'a provider, a model and a minimum cost',
      { provider: 'two', model: 'sandbox/echo', minCost: 9 },
      (row) => row.provider === 'two' && row.model === 'sandbox/echo' && row.cost >= 9,
    ],
    [
      'a range',
      { ...RANGES[1]!, provider: 'one' },
      (row) => isIn(row, RANGES[1]!) && row.provider === 'one',
    ],
    ['a cost range', { minCost: 300, maxCost: 400 }, ({ cost }) => cost >= 300 && cost <= 400],
  ])('find every row of all tenants once, newest first, with %s', async (_, filters, isLeft) => {
    const found: TenantLogRow[] = [];
    const list = new RequestLogOverTenantsReader(database, noArchive());
    const walked: TenantLogRow[] = [];
    for (const [rows, walkedRows, fewRequests] of [
      [found, 200_000, 5_000],
      [walked, 9, 0],
    ] as const) {
      Object.assign(list, { walkedRows, fewRequests });
      let after: LogPlace | undefined;
      do {
        const page = await list.page(filters, after, 23);
        rows.push(...page.rows);
        expect(page.next).not.toEqual(after ?? null);
        after = page.next;
      } while (after);
    }
    expect(walked).toEqual(found);
    const expected = rows
      .filter(isLeft)
      .sort(
        (one, other) =>
          other.createdAt.getTime() - one.createdAt.getTime() || Number(other.id) - Number(one.id),
      );
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(found.every((row) => row.tenantId === tenantId)).toBe(true);
  });

  it.each<[string, RequestLogFilters, (row: RequestLogRow) => boolean]>([
    ['a tag', { tags: { team: 'a' } }, ({ tags }) => tags?.team === 'a'],
    [
      'an end user',
      { endUser: 'b\\ob', status: 'success' },
      (row) => row.endUser === 'b\\ob' && row.status === 'success',
    ],
    [
      'a provider in a range',
      { ...RANGES[1]!, provider: 'one' },
      (row) => isIn(row, RANGES[1]!) && row.provider === 'one',
    ],
    ['credits', { minCost: 300, maxCost: 400 }, ({ cost }) => cost >= 300 && cost <= 400],
    ['an unused value', { endpoint: 'none' }, () => false],
  ])("count and page a tenant's list, and export it, with %s", async (_, filters, isLeft) => {
    const list = new RequestLogReader(database, noArchive());
    const expected = rows
      .filter(isLeft)
      .sort(
        (one, other) =>
          other.createdAt.getTime() - one.createdAt.getTime() || Number(other.id) - Number(one.id),
      )
      .map(({ id }) => id);
    for (let offset = 0; offset <= expected.length + 9; offset += 9) {
      const page = await list.pageOfTenant(tenantId, filters, { limit: 9, offset });
      expect(page.total).toBe(expected.length);
      expect(page.rows.map(({ id }) => id)).toEqual(expected.slice(offset, offset + 9));
    }
    for (const [walks, fewRequests] of [
      [[25_000], 5_000],
      [[25_000], 0],
      [[3, 5], 0],
    ] as const) {
      Object.assign(list, { walks, fewRequests });
      const found: string[] = [];
      let after: LogPlace | undefined;
      do {
        const page = await list.pageOfTenant(tenantId, filters, { limit: 9, offset: 0, after });
        if (page.isTotalExact) expect(found.length + page.total).toBe(expected.length);
        found.push(...page.rows.map(({ id }) => id));
        expect(page.next).not.toEqual(after ?? null);
        after = page.next;
      } while (after);
      expect(found).toEqual(expected);
    }
    const exported: string[] = [];
    for await (const batch of list.batchesOfTenant(tenantId, filters, 9)) {
      exported.push(...batch.map(({ id }) => id));
    }
    expect(exported).toEqual(expected);
  });

  it('subtract refunds like the ledger, if requested', async () => {
    const refundedRows = [3, 4, 150, 199].map((index) => rows[index]!);
    const refunds = [
      ...refundedRows.map(({ requestId, createdAt, cost }) => ({ requestId, at: createdAt, cost })),
      // Its row has been swept.
      { requestId: randomUUID(), at: minutesAgo(10), cost: 41 },
    ];
    for (const { requestId, at, cost } of refunds) {
      await database.query(
        `INSERT INTO ledger_entries (tenant_id, kind, amount, request_id, created_at)
         VALUES ($1, 'refund', $2, $3, $4::timestamptz + interval '5 minutes')`,
        [tenantId, Math.max(cost, 1), requestId, at],
      );
    }
    const { rows: ledger } = await database.query<{ sum: number }>(
      "SELECT sum(amount)::bigint FROM ledger_entries WHERE tenant_id = $1 AND kind = 'refund'",
      [tenantId],
    );
    const back = (some: readonly RequestLogRow[]) =>
      some.reduce((sum, { cost }) => sum + Math.max(cost, 1), 0);
    const margin = (groupBy: string, more: Partial<LogGroupQuery> = {}) =>
      reader.groups({
        ...{ tenantId, filters: {}, range: {}, limit: 10_000, withRefunds: true },
        dimensions: readDimensions(groupBy, { isOverTenants: true }),
        ...more,
      });
    expect((await groupsOf('model', {})).total.refunded).toBe(0);
    for (const groupBy of ['model', 'end_user,day', 'tag:team,hour', 'api_key']) {
      const { groups, total } = await margin(groupBy);
      expect(total).toEqual({
        ...(await groupsOf(groupBy, {})).total,
        refunded: ledger[0]!.sum,
      });
      for (const { values, refunded, isRest } of groups.filter(({ requests }) => requests > 0)) {
        const its = refundedRows.filter((row) => {
          const own = groupBy.split(',').map((dimension) => valueOf(row, dimension));
          return JSON.stringify(own) === JSON.stringify(values);
        });
        expect([values, isRest, refunded]).toEqual([values, false, back(its)]);
      }
      const unknown = groups.filter(({ isRest }) => isRest);
      expect(unknown.map(({ requests, refunded }) => [requests, refunded])).toEqual([[0, 41]]);
    }
    const { model, createdAt } = refundedRows[0]!;
    const range = { start: createdAt, end: new Date(createdAt.getTime() + 1) };
    const within = refundedRows.filter((row) => isIn(row, range));
    expect((await margin('day', { range })).total.refunded).toBe(back(within));
    const alike = refundedRows.filter((row) => row.model === model);
    expect((await margin('day', { filters: { model } })).total.refunded).toBe(back(alike));
    expect((await margin('tenant', { tenantId: undefined })).total.refunded).toBe(ledger[0]!.sum);
  });

  it.each([true, false])(
    'list the values they can be filtered by, the most frequent first: %s',
    async (isWhole) => {
      const [behind, again] = [isWhole ? 'facet_id' : '-1', 'series_id'].map(
        (value) => `UPDATE request_log_progress SET facet_id = ${value}`,
      );
      await database.query(behind!);
      const facets = await new RequestLogFacetsReader(database).ofTenant(tenantId, new Date(0));
      expect(facets.models.sort()).toEqual(['back\\slash\u0000', 'sandbox/echo']);
      expect(facets.providers).toEqual(['two', 'one']);
      expect(facets.endpoints).toEqual(['chat', 'messages']);
      expect(facets.apiKeys).toEqual(
        expect.arrayContaining(keys.map((id) => ({ id, name: null }))),
      );
      expect(facets.tags.map(({ key }) => key).sort()).toEqual(['env', 'team']);
      const team = facets.tags.find(({ key }) => key === 'team');
      expect(team?.values.slice(0, 2).sort()).toEqual(['a', 'b\\']);
      const none = await new RequestLogFacetsReader(database).ofTenant(randomUUID(), new Date(0));
      expect(none).toEqual({ models: [], providers: [], endpoints: [], apiKeys: [], tags: [] });
      await database.query(again!);
    },
  );

  it('return rows written after a given row, the latest first', async () => {
    const list = new RequestLogOverTenantsReader(database, noArchive());
    const filters = { tenantId, provider: 'one' };
    const newer = await list.newer(filters, '0', 1_000);
    const expected = rows.filter(({ provider }) => provider === 'one').map(({ id }) => Number(id));
    expect(newer.map(({ id }) => Number(id))).toEqual(expected.sort((one, two) => two - one));
    const third = newer[2]?.id ?? '0';
    expect((await list.newer(filters, third, 9)).map(({ id }) => id)).toEqual(
      newer.slice(0, 2).map(({ id }) => id),
    );
    expect(await list.newer(filters, third, 1)).toHaveLength(2);
    expect(await list.newer({ ...filters, ...RANGES[3] }, newer[0]?.id ?? '0', 9)).toEqual([]);
  });

  it('distinguish tenants, and add all of them up by whole hours', async () => {
    const other = randomUUID();
    await insertRequestLogRow(database, other, {
      cost: 7,
      modelCharge: 7,
      createdAt: minutesAgo(5),
    });
    const overTenants = (range: Range) =>
      reader.groups({
        tenantId: undefined,
        dimensions: readDimensions('tenant', { isOverTenants: true }),
        filters: {},
        range,
        limit: 10,
      });
    const own = (await groupsOf('provider', {})).total;
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await rollUpAll(database, rollUp);
      const { groups } = await overTenants({});
      const costs = new Map(groups.map(({ values, cost }) => [values[0], cost]));
      expect(costs).toEqual(
        new Map([
          [tenantId, own.cost],
          [other, 7],
        ]),
      );
      // 11:55 is within the hour that the range cuts.
      const last = await overTenants({ start: minutesAgo(2), end: minutesAgo(1) });
      expect(last.groups.find(({ values }) => values[0] === other)?.requests).toBe(1);
    }
  });
});

describe('a tenant beyond the limit of separate series', () => {
  it('has exact sums in total, by end user and by key, and a rest', async () => {
    const tenantId = randomUUID();
    const few = new RequestLogRollUpService(database);
    few.seriesOfMonth = { most: 5, mostOfAll: 8 };
    const rows: RequestLogRow[] = [];
    const keys = [randomUUID(), randomUUID()];
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 8; index++) {
        const number = round * 8 + index;
        rows.push(
          await insertRequestLogRow(database, tenantId, {
            ...someRow(number, keys),
            endUser: `user-${number % 12}`,
            tags: { run: String(number) },
            createdAt: new Date(Date.UTC(2026, 4, 1 + round)),
          }),
        );
      }
      await rollUpAll(database, few);
    }
    const groupsOf = (groupBy: string) =>
      reader.groups({
        tenantId,
        dimensions: readDimensions(groupBy),
        filters: {},
        range: {},
        limit: 100,
      });
    for (const groupBy of ['model', 'api_key,day', 'route,status']) {
      expect(figuresOf((await groupsOf(groupBy)).groups)).toEqual(addUp(rows, groupBy.split(',')));
    }
    const cost = rows.reduce((sum, row) => sum + row.cost, 0);
    for (const groupBy of ['tag:run', 'end_user', 'end_user,model', 'tag:run,end_user']) {
      const { groups, total } = await groupsOf(groupBy);
      expect(total).toMatchObject({ requests: rows.length, cost });
      expect(groups.some(({ isRest }) => isRest)).toBe(true);
      expect(groups.length).toBeLessThan(rows.length);
    }
    const { rows: counted } = await database.query<{ count: number }>(
      `SELECT count(*) FROM request_log_series WHERE tenant_id = $1 AND kind = 'each'`,
      [tenantId],
    );
    // The limits, and the series of batches in progress.
    expect(counted[0]!.count).toBeLessThanOrEqual(8 + 8);
  });
});

describe('sums of facets', () => {
  const groupsOf = async (tenantId: string, groupBy: string, filters: LogFilters = {}) => {
    const dimensions = readDimensions(groupBy);
    const range = { start: minutesAgo(60_003), end: minutesAgo(901) };
    const query = { tenantId, dimensions, filters, limit: 10_000 };
    return [
      figuresOf((await reader.groups({ ...query, range: {} })).groups),
      figuresOf((await reader.groups({ ...query, range })).groups),
    ];
  };
  const ASKED = ['end_user', 'hour,model', 'tag:team', 'tag:team,hour', 'end_user,day', 'day'];
  const answers = (tenantId: string) =>
    Promise.all([
      ...ASKED.map((groupBy) => groupsOf(tenantId, groupBy)),
      groupsOf(tenantId, 'hour', { endUser: 'ann' }),
      groupsOf(tenantId, 'tag:team', { tags: { team: 'a' } }),
    ]);
  const progress = async () => {
    const { rows } = await database.query<{ facets_from: Date | number; in_step: boolean }>(
      'SELECT facets_from, facet_id = series_id AS in_step FROM request_log_progress',
    );
    return rows[0]!.in_step ? rows[0]!.facets_from : 'behind';
  };

  it('are rebuilt from the series once an older instance has written only those', async () => {
    const tenantId = randomUUID();
    const keys = [randomUUID(), randomUUID()];
    const rows: RequestLogRow[] = [];
    const insert = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index++) {
        rows.push(await insertRequestLogRow(database, tenantId, someRow(index, keys)));
      }
    };
    await insert(0, 40);
    await rollUpAll(database, rollUp);
    expect(await progress()).toBe(-Infinity);
    const whole = await answers(tenantId);
    expect(whole[0][0]).toEqual(addUp(rows, ['end_user']));

    // Facets are not read while they may be incomplete.
    await database.query(
      `UPDATE request_log_facet_sums SET requests = requests + 1 WHERE tenant_id = $1`,
      [tenantId],
    );
    expect(await answers(tenantId)).not.toEqual(whole);
    await database.query('UPDATE request_log_progress SET facet_id = series_id - 1');
    expect(await answers(tenantId)).toEqual(whole);

    await insert(40, 60);
    await rollUpAll(database, rollUp);
    expect(await progress()).toBe(Infinity);
    const later = await answers(tenantId);
    expect(later[0][0]).toEqual(addUp(rows, ['end_user']));

    await database.query('UPDATE request_log_progress SET facets_again_at = now()');
    // Two instances at once rebuild each day once.
    await Promise.all([rollUp.rollUpNow(), new RequestLogRollUpService(database).rollUpNow()]);
    expect(await progress()).toBe(-Infinity);
    expect(await answers(tenantId)).toEqual(later);
    const { rows: counted } = await database.query<{ requests: number }>(
      `SELECT sum(requests)::bigint AS requests FROM request_log_facet_sums
       WHERE tenant_id = $1 AND facet = 'all' AND grain = 'hour'`,
      [tenantId],
    );
    expect(counted[0]!.requests).toBe(60);

    // Corrections of the series alone are included, too.
    const settle = () =>
      database.query(
        'UPDATE request_logs SET cost = cost + 1, model_charge = cost + 1 WHERE id = $1',
        [rows[1]!.id],
      );
    await settle();
    expect(await progress()).toBe(-Infinity);
    await rollUpAll(database, rollUp);
    expect(await progress()).toBe(-Infinity);
    await settle();
    await database.query('DELETE FROM request_log_series_corrections');
    expect(await progress()).toBe('behind');
    await insert(60, 61);
    await rollUpAll(database, rollUp);
    expect(await progress()).toBe(Infinity);
    // Only from there backwards, as later days have none.
    await database.query(
      `UPDATE request_log_progress SET facets_again_at = now(), facets_from = '2026-06-01'`,
    );
    await rollUpAll(database, rollUp);
    expect(await progress()).toBe(-Infinity);
  });

  it('lose end users and tags of a deleted tenant like its series, but none of its sums', async () => {
    const tenantId = randomUUID();
    const keys = [randomUUID(), randomUUID()];
    const other = randomUUID();
    for (let index = 0; index < 30; index++) {
      await insertRequestLogRow(database, tenantId, someRow(index, keys));
      await insertRequestLogRow(database, other, someRow(index, keys));
    }
    await rollUpAll(database, rollUp);
    expect(await progress()).toBe(-Infinity);
    const before = await answers(other);
    const models = await groupsOf(tenantId, 'hour,model');
    await database.transaction(async (client) => {
      for (const statement of LOG_SUMS) await client.query(statement, [tenantId]);
    });
    const { rows: left } = await database.query<{ facet: string }>(
      `SELECT facet FROM request_log_facet_sums
       WHERE tenant_id = $1 AND (facet LIKE 'tag:%' OR facet IN ('end_user', 'tags') AND value IS NOT NULL)`,
      [tenantId],
    );
    expect(left).toEqual([]);
    const byFacets = await answers(tenantId);
    expect(await groupsOf(tenantId, 'hour,model')).toEqual(models);
    expect(await answers(other)).toEqual(before);
    await database.query('UPDATE request_log_progress SET facet_id = -1');
    expect(await answers(tenantId)).toEqual(byFacets);
    await database.query('UPDATE request_log_progress SET facet_id = series_id');
  });
});
