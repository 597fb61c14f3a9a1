import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { DueWork } from '../../src/platform/database/due-work.js';
import type { Database } from '../../src/platform/database/database.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import {
  REQUEST_LOG_GROUPINGS,
  RequestLogAnalyticsReader,
} from '../../src/core/request-log/request-log-analytics.reader.js';
import type { RequestLogFilters } from '../../src/core/request-log/request-log-filters.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';
import { RequestLogReader } from '../../src/core/request-log/request-log.reader.js';
import { RequestLogRetentionService } from '../../src/core/request-log/request-log-retention.service.js';
import { RequestLogRollUpService } from '../../src/core/request-log/request-log-roll-up.service.js';
import {
  connectLedger,
  createTenant,
  holdOperation,
  settleOperation,
  type TestTenant,
} from '../support/ledger-factories.js';
import { insertRequestLogRow, noArchive } from '../support/request-log-rows.js';
import { addUp, isLeftBy, sumsOf, totalOf } from '../support/request-log-sums.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const NOW = new Date('2026-03-10T12:00:00Z');
const MODELS = ['sandbox/echo', 'sandbox/words', 'back\\slash\u0000'];

let testDatabase: TestDatabase;
let database: Database;
let reader: RequestLogReader;
let analytics: RequestLogAnalyticsReader;
let rollUp: RequestLogRollUpService;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  reader = new RequestLogReader(database, noArchive());
  analytics = new RequestLogAnalyticsReader(database, noArchive());
  rollUp = new RequestLogRollUpService(database);
});
afterAll(() => testDatabase.drop());

describe('the request log’s roll-ups', () => {
  const tenantId = randomUUID();
  const keys = [randomUUID(), randomUUID()];
  /** Newest first. */
  let rows: RequestLogRow[];

  const insertSome = async (count: number, seed: number): Promise<void> => {
    for (let index = seed; index < seed + count; index++) {
      const failed = index % 7 === 0;
      await insertRequestLogRow(database, tenantId, {
        apiKeyId: keys[index % 2],
        model: MODELS[index % 3],
        provider: index % 3 === 0 ? 'one' : 'two',
        status: failed ? 'error' : 'success',
        outcome: failed ? 'failed' : 'completed',
        promptTokens: index,
        completionTokens: 2 * index,
        cost: failed ? 0 : 3 * index,
        modelCharge: failed ? 0 : 3 * index,
        latencyMs: (index * 37) % 5_000,
        createdAt: new Date(NOW.getTime() - ((index * 7_919) % 4_000) * 60_000),
      });
    }
  };

  beforeAll(async () => {
    await insertSome(120, 0);
    await rollUp.rollUpNow();
    await insertSome(60, 120);
    await rollUp.rollUpNow();
    // These are not rolled up.
    await insertSome(40, 180);
    rows = [];
    for await (const batch of reader.batchesOfTenant(tenantId, {}, 7)) rows.push(...batch);
  });

  it('are read in batches that contain every row once, newest first', () => {
    expect(rows).toHaveLength(220);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(220);
    const order = [...rows].sort(
      (left, right) =>
        right.createdAt.getTime() - left.createdAt.getTime() || Number(right.id) - Number(left.id),
    );
    expect(rows).toEqual(order);
  });

  const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000);
  const filters: RequestLogFilters[] = [
    {},
    { status: 'error' },
    { model: MODELS[2] },
    { apiKeyId: keys[1] },
    { model: MODELS[1], apiKeyId: keys[0], status: 'success' },
    { start: hoursAgo(40.3) },
    { end: hoursAgo(10.7), status: 'error' },
    { start: hoursAgo(50.9), end: hoursAgo(1.01), model: MODELS[0] },
    { start: hoursAgo(5.4), end: hoursAgo(5.1) },
    { start: new Date('2026-03-09'), end: new Date('2026-03-10') },
    { model: 'sandbox/none' },
  ];

  it.each(filters)('return every page of a list and its length for %j', async (filter) => {
    const expected = rows.filter((row) => isLeftBy(row, filter));
    for (let offset = 0; offset <= expected.length + 13; offset += 13) {
      const page = await reader.pageOfTenant(tenantId, filter, { limit: 13, offset });
      expect(page.total).toBe(expected.length);
      expect(page.rows).toEqual(expected.slice(offset, offset + 13));
    }
  });

  it.each(REQUEST_LOG_GROUPINGS)('add up by %s over any time range', async (grouping) => {
    for (const range of filters.map(({ start, end }) => ({ start, end }))) {
      const groups = await analytics.groupsOfTenant(tenantId, grouping, range);
      const expected = addUp(
        rows.filter((row) => isLeftBy(row, range)),
        grouping,
      );
      expect(new Map(groups.map((group) => [group.group, sumsOf(group)]))).toEqual(
        new Map(expected.map((group) => [group.group, sumsOf(group)])),
      );
      for (const { group, latencyP50Ms, latencyP95Ms, latencyP99Ms } of groups) {
        const exact = expected.find((candidate) => candidate.group === group)!;
        expect(Math.abs(latencyP50Ms - exact.latencyP50Ms)).toBeLessThanOrEqual(
          exact.latencyP50Ms * 0.05 + 1,
        );
        expect(Math.abs(latencyP95Ms - exact.latencyP95Ms)).toBeLessThanOrEqual(
          exact.latencyP95Ms * 0.05 + 1,
        );
        expect(Math.abs(latencyP99Ms - exact.latencyP99Ms)).toBeLessThanOrEqual(
          exact.latencyP99Ms * 0.05 + 1,
        );
      }
      const order = groups.map(({ group, cost }) => [group, cost] as const);
      const isTime = grouping === 'day' || grouping === 'hour';
      expect(order).toEqual(
        [...order].sort(([left, cost], [right, otherCost]) =>
          isTime ? (left < right ? -1 : 1) : otherCost - cost,
        ),
      );
    }
  });

  it('show another tenant nothing', async () => {
    expect(await analytics.groupsOfTenant(randomUUID(), 'model', {})).toEqual([]);
    const page = await reader.pageOfTenant(randomUUID(), {}, { limit: 5, offset: 0 });
    expect(page).toMatchObject({ rows: [], total: 0 });
  });
});

describe('while requests are settled', () => {
  it('agree with the log at all times, whichever instance rolls it up', async () => {
    const ledgers = [
      await connectLedger(testDatabase.url),
      await connectLedger(testDatabase.url),
    ] as const;
    const rollUps = ledgers.map((ledger) => new RequestLogRollUpService(ledger.database));
    const tenants = [await createTenant(database, 1e9), await createTenant(database, 1e9)] as const;
    let running = true;
    let samples = 0;
    const adding = rollUps.map(async (service) => {
      while (running) await service.rollUpNow();
    });
    const sampling = tenants.map(async ({ tenantId }) => {
      while (running) {
        // Read in this order, each one knows at most as many requests as the next.
        const before = await spentBy(tenantId);
        const [group] = await analytics.groupsOfTenant(tenantId, 'status', {});
        const { total } = await reader.pageOfTenant(tenantId, {}, { limit: 1, offset: 0 });
        const after = await spentBy(tenantId);
        const counted = group ?? { requests: 0, cost: 0 };
        expect(counted.requests).toBeGreaterThanOrEqual(before.requests);
        expect(counted.cost).toBeGreaterThanOrEqual(before.cost);
        expect(total).toBeGreaterThanOrEqual(counted.requests);
        expect(after.requests).toBeGreaterThanOrEqual(total);
        expect(after.cost).toBeGreaterThanOrEqual(counted.cost);
        samples++;
      }
    });
    await Promise.all(
      Array.from({ length: 16 }, async (_, caller) => {
        const { store } = ledgers[caller % 2]!;
        const tenant: TestTenant = tenants[(caller >> 1) % 2]!;
        for (let round = 0; round < 50; round++) {
          const operation = holdOperation(tenant, 100);
          await store.hold(operation);
          await store.settle(settleOperation(tenant, operation.requestId, 1 + (round % 9)));
        }
      }),
    );
    running = false;
    await Promise.all([...adding, ...sampling]);
    expect(samples).toBeGreaterThan(5);

    const checkAll = async () => {
      for (const { tenantId } of tenants) {
        const spent = await spentBy(tenantId);
        expect(spent.requests).toBe(400);
        for (const grouping of REQUEST_LOG_GROUPINGS) {
          const groups = await analytics.groupsOfTenant(tenantId, grouping, {});
          expect(totalOf(groups)).toEqual(spent);
        }
      }
    };
    await checkAll();
    await rollUp.rollUpNow();
    const { rows } = await database.query(
      'SELECT FROM request_logs WHERE id > (SELECT rolled_up_id FROM request_log_progress)',
    );
    expect(rows).toHaveLength(0);
    await checkAll();
    for (const ledger of ledgers) await ledger.close();
  });

  it('follow a row that was swept as crashed and turns out to be a success', async () => {
    const [dying, living] = [
      await connectLedger(testDatabase.url),
      await connectLedger(testDatabase.url),
    ];
    const tenant = await createTenant(database, 1_000);
    await living.instance.beat();
    const operation = holdOperation(tenant, 100);
    await dying.store.hold(operation);
    await new HoldSweeperService(
      living.database,
      living.instance,
      new DueWork(living.database),
    ).sweepNow({
      assumeOthersDead: true,
    });
    await rollUp.rollUpNow();
    const byStatus = () => analytics.groupsOfTenant(tenant.tenantId, 'status', {});
    expect((await byStatus()).map(({ group, cost }) => [group, cost])).toEqual([['error', 0]]);

    await dying.store.settle(settleOperation(tenant, operation.requestId, 42));
    const check = async () => {
      expect((await byStatus()).map(({ group, cost }) => [group, cost])).toEqual([['success', 42]]);
      for (const [status, total] of [
        ['success', 1],
        ['error', 0],
      ] as const) {
        const page = await reader.pageOfTenant(
          tenant.tenantId,
          { status },
          { limit: 5, offset: 0 },
        );
        expect({ status, total: page.total, rows: page.rows.length }).toEqual({
          status,
          total,
          rows: total,
        });
      }
    };
    await check();
    await rollUp.rollUpNow();
    expect((await database.query('SELECT FROM request_log_corrections')).rowCount).toBe(0);
    await check();
    await dying.close();
    await living.close();
  });
});

describe(RequestLogRetentionService.name, () => {
  const sweep = (logRetentionDays: number) =>
    new RequestLogRetentionService(database, { logRetentionDays }).sweepNow(NOW);

  it('deletes whole expired days, keeps their sums, and lists the rest', async () => {
    const tenantId = randomUUID();
    const at = (text: string) =>
      insertRequestLogRow(database, tenantId, { createdAt: new Date(text) });
    await at('2026-01-01T10:30:00Z');
    await at('2026-01-09T23:59:59.999Z');
    const kept = [await at('2026-03-08T00:00:00Z'), await at('2026-03-10T11:00:00Z')].reverse();
    await rollUp.rollUpNow();
    // A row that is not rolled up yet is hidden and deleted later.
    await at('2026-01-02T00:00:00Z');

    expect(await sweep(0)).toBe(0);
    // Two instances at once.
    const deleted = await Promise.all([sweep(2), sweep(2)]);
    expect(deleted[0] + deleted[1]).toBeGreaterThanOrEqual(2);
    const listed = async () => {
      const batches: RequestLogRow[] = [];
      for await (const batch of reader.batchesOfTenant(tenantId, {}, 10)) batches.push(...batch);
      const page = await reader.pageOfTenant(tenantId, {}, { limit: 10, offset: 0 });
      expect(page.rows).toEqual(batches);
      expect(page.total).toBe(batches.length);
      return batches;
    };
    expect(await listed()).toEqual(kept);
    const months = await analytics.groupsOfTenant(tenantId, 'day', {});
    expect(months.map(({ group, requests }) => [group, requests])).toEqual([
      ['2026-01-01T00:00:00Z', 1],
      ['2026-01-02T00:00:00Z', 1],
      ['2026-01-09T00:00:00Z', 1],
      ['2026-03-08T00:00:00Z', 1],
      ['2026-03-10T00:00:00Z', 1],
    ]);

    await rollUp.rollUpNow();
    await sweep(2);
    const { rows } = await database.query(
      'SELECT created_at FROM request_logs WHERE tenant_id = $1',
      [tenantId],
    );
    expect(rows).toHaveLength(2);
    expect(totalOf(await analytics.groupsOfTenant(tenantId, 'model', {})).requests).toBe(5);
    // A longer retention restores nothing.
    expect(await sweep(400)).toBe(0);
    expect(await listed()).toEqual(kept);
  });
});

async function spentBy(tenantId: string): Promise<{ requests: number; cost: number }> {
  const { rows } = await database.query<{ requests: number; cost: number }>(
    'SELECT request_count AS requests, spent AS cost FROM accounts WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0]!;
}
