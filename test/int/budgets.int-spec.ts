import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import {
  BUDGET_PERIODS,
  limitedSubject,
  type Budget,
  type BudgetPeriod,
  type LimitedSubject,
  type Limits,
  type LimitScope,
} from '../../src/canonical/limits.js';
import { BudgetReader } from '../../src/core/ledger/budget.reader.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import type { HoldOperation } from '../../src/core/ledger/ledger-operations.js';
import {
  brokenAccounts,
  connectLedger,
  createTenant,
  coverOperation,
  holdOperation,
  settleOperation,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { DueWork } from '../../src/platform/database/due-work.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let ledgers: [TestLedger, TestLedger];
let reader: BudgetReader;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  ledgers = [await connectLedger(testDatabase.url), await connectLedger(testDatabase.url)];
  reader = new BudgetReader(testDatabase.database);
});
afterEach(() => setClock('now()'));
afterAll(async () => {
  for (const ledger of ledgers) await ledger.close();
  await testDatabase.drop();
});

const setClock = (time: string) =>
  testDatabase.database.query(
    `CREATE OR REPLACE FUNCTION budget_clock() RETURNS timestamptz LANGUAGE sql STABLE
     AS $$SELECT ${time}$$`,
  );

const newTenant = () => createTenant(testDatabase.database, 1_000_000);

function subjectOf(
  { tenantId, apiKeyId }: TestTenant,
  limits: Limits,
  scope: LimitScope = 'api_key',
): LimitedSubject {
  const id = { tenant: tenantId, api_key: apiKeyId, end_user: 'Zoë \u0000 \ud800' }[scope];
  return limitedSubject(scope, id, [limits])!;
}

const budgeted = (tenant: TestTenant, period: BudgetPeriod, credits: number, scope?: LimitScope) =>
  subjectOf(tenant, { budgets: [{ period, credits }] }, scope);

async function hold(
  tenant: TestTenant,
  subjects: readonly LimitedSubject[],
  amount: number,
  store = ledgers[0].store,
) {
  const operation = holdOperation(tenant, amount, { subjects });
  return { operation, outcome: await store.hold(operation) };
}

const settle = (tenant: TestTenant, { requestId }: HoldOperation, cost: number) =>
  ledgers[0].store.settle(settleOperation(tenant, requestId, cost));

async function spend(tenant: TestTenant, subjects: readonly LimitedSubject[], credits: number) {
  const { operation, outcome } = await hold(tenant, subjects, credits);
  expect(outcome.admitted).toBe(true);
  await settle(tenant, operation, credits);
}

async function useOf(tenant: TestTenant, { scope, id }: LimitedSubject) {
  const [use] = await reader.useOf(tenant.tenantId, [{ scope, id }]);
  return use!;
}

describe('a budget', () => {
  it.each(BUDGET_PERIODS)(
    '(%s) is never exceeded by 200 parallel requests over two ledgers',
    async (period) => {
      const tenant = await newTenant();
      const subject = budgeted(tenant, period, 1_050);
      let running = true;
      const sampling = (async () => {
        while (running) {
          const use = await useOf(tenant, subject);
          expect(use[period] + use.held).toBeLessThanOrEqual(1_050);
        }
      })();
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          hold(tenant, [subject], 100, ledgers[index % 2]!.store),
        ),
      );
      const admitted = outcomes.filter(({ outcome }) => outcome.admitted);
      expect(admitted).toHaveLength(10);
      for (const { outcome } of outcomes) {
        if (outcome.admitted) continue;
        expect(outcome.excess).toMatchObject({ scope: 'api_key', period, limit: 1_050, left: 50 });
      }
      // Each costs 40 of its 100, so 650 are left for the next ones.
      for (const { operation } of admitted) await settle(tenant, operation, 40);
      const more = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const { store } = ledgers[index % 2]!;
          const { operation, outcome } = await hold(tenant, [subject], 100, store);
          if (!outcome.admitted) return 0;
          await store.settle(settleOperation(tenant, operation.requestId, 100));
          return 100;
        }),
      );
      running = false;
      await sampling;
      expect(more.reduce<number>((sum, each) => sum + each, 0)).toBe(600);
      expect(await useOf(tenant, subject)).toMatchObject({ [period]: 1_000, held: 0, requests: 0 });
      expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
    },
  );

  it('applies together with its other periods and those of parents; the first exhausted one refuses', async () => {
    const tenant = await newTenant();
    const budgets: Budget[] = [
      { period: 'hour', credits: 100 },
      { period: 'total', credits: 250 },
    ];
    const key = subjectOf(tenant, { budgets });
    const subjects = [
      budgeted(tenant, 'day', 120, 'end_user'),
      key,
      budgeted(tenant, 'day', 500, 'tenant'),
    ];
    await spend(tenant, subjects, 90);
    const refused = [await hold(tenant, subjects, 11), await hold(tenant, subjects, 31)];
    expect(refused.map(({ outcome }) => outcome)).toMatchObject([
      { excess: { scope: 'api_key', period: 'hour', limit: 100, left: 10 } },
      { excess: { scope: 'end_user', period: 'day', limit: 120, left: 30 } },
    ]);
    await setClock(`now() + interval '1 hour'`);
    const { outcome } = await hold(tenant, [key], 161);
    expect(outcome).toMatchObject({ excess: { period: 'hour', left: 100 } });
    await spend(tenant, [key], 100);
    await setClock(`now() + interval '2 hours'`);
    await hold(tenant, [key], 61).then((last) =>
      expect(last.outcome).toMatchObject({ excess: { period: 'total', left: 60, renewsAt: null } }),
    );
  });

  it('starts again with its period, also for holds that are still open', async () => {
    // A Sunday, the second to last day of a month, a minute before the hour.
    const sunday = `timestamptz '2026-11-29 23:59Z'`;
    const created = new Date('2026-11-29T23:58:00Z');
    for (const [period, next] of [
      ['hour', '2026-11-30 00:00Z'],
      ['day', '2026-11-30 00:00Z'],
      ['week', '2026-11-30 00:00Z'],
      ['month', '2026-12-01 00:00Z'],
    ] as const) {
      await setClock(sunday);
      const tenant = await newTenant();
      const subject = budgeted(tenant, period, 100);
      const ended = await hold(tenant, [subject], 70);
      const open = await hold(tenant, [subject], 30);
      await ledgers[0].store.settle(
        settleOperation(tenant, ended.operation.requestId, 70, { createdAt: created }),
      );
      expect((await hold(tenant, [subject], 1)).outcome).toMatchObject({
        excess: { renewsAt: new Date(next) },
      });
      await setClock(`timestamptz '${next}' - interval '1 ms'`);
      expect((await hold(tenant, [subject], 1)).outcome.admitted).toBe(false);
      await setClock(`timestamptz '${next}'`);
      expect((await hold(tenant, [subject], 71)).outcome.admitted).toBe(false);
      expect((await hold(tenant, [subject], 70)).outcome.admitted).toBe(true);
      // It ends in the new period and counts there.
      const at = { createdAt: new Date(next) };
      await ledgers[0].store.settle(settleOperation(tenant, open.operation.requestId, 20, at));
      expect(await useOf(tenant, subject)).toMatchObject({ [period]: 20, held: 70, total: 90 });
    }
  });

  it('may be lowered below the spent credits, and then has nothing left', async () => {
    const tenant = await newTenant();
    await spend(tenant, [budgeted(tenant, 'day', 100)], 80);
    const lowered = budgeted(tenant, 'day', 50);
    expect((await hold(tenant, [lowered], 1)).outcome).toMatchObject({
      excess: { limit: 50, left: 0 },
    });
    expect((await hold(tenant, [lowered], 0)).outcome.admitted).toBe(true);
    expect((await hold(tenant, [budgeted(tenant, 'day', 90)], 10)).outcome.admitted).toBe(true);
  });

  it('recovers the holds of crashed processes, and holds that were released or never ended', async () => {
    const tenant = await newTenant();
    const subject = budgeted(tenant, 'day', 100);
    const crashing = await connectLedger(testDatabase.url);
    await hold(tenant, [subject], 60, crashing.store);
    const { operation } = await hold(tenant, [subject], 40);
    expect((await hold(tenant, [subject], 1)).outcome.admitted).toBe(false);
    await ledgers[0].store.release(operation.requestId, tenant.tenantId);
    expect(await useOf(tenant, subject)).toMatchObject({ day: 0, held: 60, requests: 1 });
    const { database, instance } = ledgers[0];
    const sweeper = new HoldSweeperService(database, instance, new DueWork(database));
    await instance.beat();
    await ledgers[1].instance.beat();
    await sweeper.sweepNow({ assumeOthersDead: false });
    expect((await hold(tenant, [subject], 100)).outcome.admitted).toBe(true);
    await crashing.close();
  });

  it('counts covers, and settlements by older code that does not know budgets', async () => {
    const tenant = await newTenant();
    const subjects = [budgeted(tenant, 'month', 100)];
    const { operation } = await hold(tenant, subjects, 50);
    const { requestId } = operation;
    const { store } = ledgers[0];
    const cover = async (additional: number) =>
      (await store.cover(coverOperation(operation, additional, { subjects }))) !== undefined;
    expect([await cover(51), await cover(50), await cover(1)]).toEqual([false, true, false]);
    expect(await useOf(tenant, subjects[0]!)).toMatchObject({ month: 0, held: 100 });
    await ledgers[1].store.settle(settleOperation(tenant, requestId, 70));
    expect(await useOf(tenant, subjects[0]!)).toMatchObject({ month: 70, held: 0 });
    const range = { most: 90, base: 28 };
    const open = holdOperation(tenant, 5, { subjects, range });
    expect(await store.hold(open)).toEqual({ admitted: true, granted: 28 });
  });

  it('is aggregated by the sweep when no request does it before its rows expire', async () => {
    const tenant = await newTenant();
    const subject = budgeted(tenant, 'total', 100);
    await spend(tenant, [subject], 80);
    const { database, instance } = ledgers[0];
    const sweeper = new HoldSweeperService(database, instance, new DueWork(database));
    const lines = async () =>
      (await database.query('SELECT FROM limit_holds WHERE subject = $1', [subject.id])).rowCount;
    await sweeper.countNow();
    expect(await lines()).toBe(1);
    await setClock(`now() + interval '61 minutes'`);
    await sweeper.countNow();
    expect(await lines()).toBe(0);
    expect(await useOf(tenant, subject)).toMatchObject({ total: 80, held: 0 });
  });

  it('costs tenants without one no statement, even next to tenants with one', async () => {
    const [limited, free] = [await newTenant(), await newTenant()];
    const subjects = [budgeted(limited, 'day', 5)];
    const { store } = ledgers[0];
    const sent = jest.spyOn(pg.Client.prototype, 'query');
    const takeNames = (): string[] => {
      const names = sent.mock.calls.flatMap(([query]: unknown[]) =>
        typeof query === 'object' && query !== null && 'name' in query ? [String(query.name)] : [],
      );
      sent.mockClear();
      return names;
    };
    try {
      const holdAndSettle = async () => {
        const operation = holdOperation(free, 10);
        await store.hold(operation);
        await store.settle(settleOperation(free, operation.requestId, 5));
        return takeNames();
      };
      const [first, second] = [await holdAndSettle(), await holdAndSettle()];
      // The first request of a month also opens the account's month.
      expect(first).toContain('ledger-settle');
      expect(second).toEqual(['ledger-quick-hold-one', 'ledger-quick-settle-one']);
      const outcomes = await Promise.all([
        store.hold(holdOperation(free, 10)),
        store.hold(holdOperation(limited, 10, { subjects })),
        store.hold(holdOperation(free, 10)),
      ]);
      expect(outcomes.map(({ admitted }) => admitted)).toEqual([true, false, true]);
      const names = takeNames();
      expect(names.filter((name) => name.startsWith('ledger-quick-hold'))).not.toEqual([]);
      expect(names.filter((name) => name === 'ledger-count-use')).toHaveLength(1);
    } finally {
      sent.mockRestore();
    }
  });
});

describe('a limit of open requests', () => {
  it('holds over two ledgers, and frees a slot with each request that ends', async () => {
    const tenant = await newTenant();
    const subject = subjectOf(tenant, { max_in_flight: 7 }, 'tenant');
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        hold(tenant, [subject], 1, ledgers[index % 2]!.store),
      ),
    );
    const admitted = outcomes.filter(({ outcome }) => outcome.admitted);
    expect(admitted).toHaveLength(7);
    const refused = outcomes.find(({ outcome }) => !outcome.admitted)!;
    expect(refused.outcome).toMatchObject({ excess: { scope: 'tenant', maxInFlight: 7 } });
    await settle(tenant, admitted[0]!.operation, 1);
    const next = [await hold(tenant, [subject], 1), await hold(tenant, [subject], 1)];
    expect(next.map(({ outcome }) => outcome.admitted)).toEqual([true, false]);
  });
});
