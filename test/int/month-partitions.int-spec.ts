import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { DueWork } from '../../src/platform/database/due-work.js';
import type { Database } from '../../src/platform/database/database.js';
import { mintRequestId } from '../../src/platform/http/request-id.js';
import { DAY_MS, utcMonthOf } from '../../src/platform/time/dates.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import { InstanceService } from '../../src/core/ledger/instance.service.js';
import { LedgerRetentionService } from '../../src/core/ledger/ledger-retention.service.js';
import { SETTLE } from '../../src/core/ledger/ledger-statements.js';
import { toLogRow } from '../../src/core/ledger/ledger-rows.js';
import { MonthPartitionsService } from '../../src/core/ledger/month-partitions.service.js';
import { RefundsService } from '../../src/core/ledger/refunds.service.js';
import { RequestLogReader } from '../../src/core/request-log/request-log.reader.js';
import { RequestLogRetentionService } from '../../src/core/request-log/request-log-retention.service.js';
import { StatementReader } from '../../src/core/ledger/statement.reader.js';
import { rollUpAll } from '../support/roll-up-all.js';
import {
  connectLedger,
  createTenant,
  holdOperation,
  logDraft,
  settleOperation,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { insertRequestLogRow, noArchive } from '../support/request-log-rows.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let database: Database;
let ledger: TestLedger;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  ledger = await connectLedger(testDatabase.url);
});
afterAll(async () => {
  await ledger.close();
  await testDatabase.drop();
});

const idAt = (time: string) => mintRequestId(Date.parse(time));
const suffixOf = (month: string) => month.replace('-', '_');

/** Returns the tables that have rows of a request. */
async function placesOf(requestId: string): Promise<string[]> {
  const { rows } = await database.query<{ place: string }>(
    `SELECT tableoid::regclass::text AS place FROM request_logs WHERE request_id = $1
     UNION ALL
     SELECT tableoid::regclass::text FROM ledger_entries WHERE request_id = $1 ORDER BY place`,
    [requestId],
  );
  return rows.map(({ place }) => place);
}

async function settle(tenant: TestTenant, requestId: string, credits: number, createdAt?: Date) {
  const operation = settleOperation(tenant, requestId, credits, createdAt && { createdAt });
  return ledger.store.settle(operation);
}

async function chargesOf(requestId: string): Promise<number[]> {
  const { rows } = await database.query<{ amount: number }>(
    'SELECT amount FROM ledger_entries WHERE request_id = $1',
    [requestId],
  );
  return rows.map(({ amount }) => amount);
}

async function makeMonth(month: string): Promise<number> {
  const { rows } = await database.query<{ made: number }>(
    'SELECT make_month_partitions($1::date, $1::date) AS made',
    [`${month}-01`],
  );
  return rows[0]!.made;
}

describe('partitions by month', () => {
  it('store a request in the month of its id, in both tables', async () => {
    const tenant = await createTenant(database, 100);
    const month = suffixOf(new Date().toISOString().slice(0, 7));
    const operation = holdOperation(tenant, 20, { requestId: mintRequestId() });
    await ledger.store.hold(operation);
    await settle(tenant, operation.requestId, 7);
    expect(await placesOf(operation.requestId)).toEqual([
      `ledger_entries_${month}`,
      `request_logs_${month}`,
    ]);
    const before = holdOperation(tenant, 20);
    await ledger.store.hold(before);
    await settle(tenant, before.requestId, 7);
    expect(await placesOf(before.requestId)).toEqual([
      'ledger_entries_before_months',
      'request_logs_before_months',
    ]);
    expect(await findLedgerFaults(database)).toEqual([]);
  });

  it('have the same bounds as ids', async () => {
    for (const time of ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z']) {
      const { start, end } = utcMonthOf(new Date(time));
      const { rows } = await database.query(
        `SELECT $1::uuid >= first_request_id($2::date) AND $1::uuid < first_request_id($3::date) AS within`,
        [idAt(time), start.toISOString().slice(0, 10), end.toISOString().slice(0, 10)],
      );
      expect(rows).toEqual([{ within: true }]);
    }
  });

  it.each(['a month with a partition', 'a month without one', 'no month'])(
    'charge a request of %s once, whichever process settles it however often',
    async (which) => {
      const tenant = await createTenant(database, 1_000);
      const other = await connectLedger(testDatabase.url);
      const mint = {
        'a month with a partition': () => mintRequestId(),
        'a month without one': () => idAt('2024-05-05T05:05:05Z'),
        'no month': () => randomUUID(),
      }[which]!;
      const ids = Array.from({ length: 10 }, mint);
      await Promise.all(
        ids.map((requestId) => ledger.store.hold(holdOperation(tenant, 50, { requestId }))),
      );
      await Promise.all(
        ids.flatMap((requestId) =>
          [ledger.store, other.store, ledger.store, other.store].map((store) =>
            store.settle(settleOperation(tenant, requestId, 10)).catch(() => undefined),
          ),
        ),
      );
      await other.close();
      for (const requestId of ids) expect(await chargesOf(requestId)).toEqual([-10]);
      const { rows } = await database.query(
        'SELECT balance, held, request_count FROM accounts WHERE tenant_id = $1',
        [tenant.tenantId],
      );
      expect(rows).toEqual([{ balance: 900, held: 0, request_count: 10 }]);
      const refunds = new RefundsService(database);
      const refund = () =>
        refunds.refund({
          tenantId: tenant.tenantId,
          requestId: ids[0]!,
          decide: () => Promise.resolve(true),
        });
      const refunded = await Promise.all([refund(), refund(), refund()]);
      expect(refunded.sort()).toEqual([0, 0, 10]);
      expect(await findLedgerFaults(database)).toEqual([]);
    },
  );

  it('replace the row of a request that was swept as crashed, which counts once', async () => {
    const tenant = await createTenant(database, 100);
    const operation = holdOperation(tenant, 50, { requestId: mintRequestId() });
    await ledger.store.hold(operation);
    const sweeper = new HoldSweeperService(
      database,
      new InstanceService(database),
      new DueWork(database),
    );
    await sweeper.sweepNow({ assumeOthersDead: true });
    await settle(tenant, operation.requestId, 10);
    await settle(tenant, operation.requestId, 10);
    const { rows } = await database.query(
      `SELECT outcome, cost, request_count FROM request_logs JOIN accounts USING (tenant_id)
       WHERE request_id = $1`,
      [operation.requestId],
    );
    expect(rows).toEqual([{ outcome: 'completed', cost: 10, request_count: 1 }]);
    expect(await findLedgerFaults(database)).toEqual([]);
  });

  it.each([
    ['random ids', () => randomUUID()],
    ['ids of a month', () => mintRequestId()],
    ['ids of a month without a partition', () => idAt('2023-03-03T00:00:00Z')],
  ])('accept the statement of the previous version, with %s', async (_, mint) => {
    const text = SETTLE.text
      .replace(/,\s+replaces_crash = true/, '')
      .replace('NOT replaces_crash AS is_new', 'xmax = 0 AS is_new');
    expect(text).not.toContain('replaces_crash');
    const tenant = await createTenant(database, 100);
    const log = logDraft(tenant, mint(), { outcome: 'crashed' });
    const write = async (outcome: 'crashed' | 'completed', cost: number) => {
      const charge = { modelCharge: cost, byokPlatformFee: 0, managedToolFee: 0 };
      const row = toLogRow({ ...log, outcome }, { charge, cost, shortfall: 0 });
      await database.query(text, [
        JSON.stringify([row]),
        JSON.stringify([{ tenant_id: tenant.tenantId, credits: 0 }]),
      ]);
    };
    await write('crashed', 0);
    await write('completed', 10);
    await write('completed', 10);
    const { rows } = await database.query(
      'SELECT balance, request_count FROM accounts WHERE tenant_id = $1',
      [tenant.tenantId],
    );
    expect(rows).toEqual([{ balance: 90, request_count: 1 }]);
  });

  it('find a request in its partition only', async () => {
    const { rows } = await database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT * FROM request_logs WHERE request_id = '${mintRequestId()}'`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan using request_logs_20\d\d_\d\d_request_id/);
    expect(plan).not.toContain('before_months');
  });
});

describe(MonthPartitionsService.name, () => {
  it('creates missing partitions once, however many instances do so', async () => {
    const services = [new MonthPartitionsService(database), new MonthPartitionsService(database)];
    await database.query(
      'DROP TABLE request_logs_' +
        suffixOf(monthFromNow(3)) +
        ', ledger_entries_' +
        suffixOf(monthFromNow(2)),
    );
    const made = await Promise.all(services.map((service) => service.createAhead()));
    // One may have been in the way of the other for longer than locks are waited for.
    expect(made.reduce<number>((sum, one) => sum + (one ?? 0), 0)).toBe(2);
    expect(await services[0]!.createAhead()).toBe(0);
  });

  it.each([
    ['reads the tables', 'SELECT count(*) FROM request_logs'],
    [
      'may be planning without the new month',
      'LOCK TABLE ONLY request_logs_months IN ACCESS SHARE MODE',
    ],
  ])('gives up and logs it when a session %s', async (_, statement) => {
    const session = await database.pool.connect();
    await database.query(`DROP TABLE request_logs_${suffixOf(monthFromNow(3))}`);
    try {
      await session.query('BEGIN');
      await session.query(statement);
      expect(await new MonthPartitionsService(database).createAhead()).toBeUndefined();
      // Nobody waits behind it.
      expect((await database.query('SELECT FROM request_logs LIMIT 0')).rowCount).toBe(0);
    } finally {
      await session.query('ROLLBACK');
      session.release();
    }
    expect(await new MonthPartitionsService(database).createAhead()).toBe(1);
  });

  it('moves rows that came before their month was created', async () => {
    const tenant = await createTenant(database, 100);
    const requestId = idAt('2025-07-31T23:59:59Z');
    await ledger.store.hold(holdOperation(tenant, 50, { requestId }));
    await settle(tenant, requestId, 10);
    expect(await placesOf(requestId)).toEqual(['ledger_entries_other', 'request_logs_other']);
    expect(await makeMonth('2025-07')).toBe(2);
    expect(await placesOf(requestId)).toEqual(['ledger_entries_2025_07', 'request_logs_2025_07']);
    await settle(tenant, requestId, 10);
    expect(await chargesOf(requestId)).toEqual([-10]);
    for (const table of ['ledger_entries', 'ledger_entries_2025_07', 'ledger_entries_other']) {
      for (const change of [`DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
        await expect(database.query(change)).rejects.toMatchObject({ code: '23000' });
      }
    }
    expect(await findLedgerFaults(database)).toEqual([]);
  });
});

describe('retention of months', () => {
  const sweep = (days: number, now: Date) =>
    new RequestLogRetentionService(database, { logRetentionDays: days }).sweepNow(now);
  const fold = (days: number, now: Date) =>
    new LedgerRetentionService(database, { ledgerRetentionDays: days }).sweepNow(now);
  const hasTable = async (name: string) => {
    const { rows } = await database.query<{ found: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS found',
      [name],
    );
    return rows[0]!.found;
  };

  it('drops months of the log that are rolled up and expired, and hides expired days before', async () => {
    const { tenantId } = await createTenant(database, 0);
    const reader = new RequestLogReader(database, noArchive());
    const at = (time: string) =>
      insertRequestLogRow(database, tenantId, {
        requestId: idAt(time),
        createdAt: new Date(time),
      });
    await makeMonth('2022-01');
    await makeMonth('2022-02');
    const [old, hidden, kept] = [
      await at('2022-01-31T10:00:00Z'),
      await at('2022-02-01T10:00:00Z'),
      await at('2022-02-20T10:00:00Z'),
    ];
    const now = new Date('2022-02-12T00:00:00Z');
    // Not rolled up yet.
    await sweep(10, now);
    expect(await hasTable('request_logs_2022_01')).toBe(true);
    await rollUpAll(database);
    const swept = await Promise.all([sweep(10, now), sweep(10, now)]);
    expect(Math.max(...swept)).toBeGreaterThanOrEqual(1);
    await sweep(10, now);
    expect(await hasTable('request_logs_2022_01')).toBe(false);
    expect(await hasTable('request_logs_2022_02')).toBe(true);
    expect(await reader.findByRequestId(tenantId, old.requestId)).toBeUndefined();
    expect(await reader.findByRequestId(tenantId, hidden.requestId)).toBeUndefined();
    expect(await reader.findByRequestId(tenantId, kept.requestId)).toEqual(kept);
    // Late rows of a dropped month are kept.
    const late = await at('2022-01-31T23:00:00Z');
    expect(await placesOf(late.requestId)).toEqual(['request_logs_other']);
  });

  it('carries months of the ledger forward, so that balances and statements stay', async () => {
    const tenant = await createTenant(database, 1_000);
    const statements = new StatementReader(database);
    await makeMonth('2021-05');
    await makeMonth('2021-06');
    // In time order, like ids. Refunds come after charges.
    const movements: [string, string, string, number][] = [
      ['2021-05-10T00:00:00Z', '2021-05-10T00:00:00Z', 'charge', -100],
      ['2021-05-31T23:59:59Z', '2021-05-31T23:59:59Z', 'charge', -30],
      ['2021-05-31T23:59:59Z', '2021-05-31T23:59:59Z', 'shortfall', 5],
      ['2021-05-10T00:00:00Z', '2021-06-02T00:00:00Z', 'refund', 20],
      ['2021-06-15T00:00:00Z', '2021-06-15T00:00:00Z', 'charge', -40],
    ];
    await database.query(
      `WITH entry AS (
         INSERT INTO ledger_entries (tenant_id, kind, amount, created_at)
         VALUES ($1, 'grant', 50, '2021-05-02Z')
       )
       UPDATE accounts SET balance = balance + 50, granted = granted + 50 WHERE tenant_id = $1`,
      [tenant.tenantId],
    );
    for (const [requestedAt, createdAt, kind, amount] of movements) {
      await insertEntry(tenant, requestedAt, createdAt, kind, amount);
    }
    const summaries = () =>
      Promise.all(
        ['2021-04', '2021-05', '2021-06', '2021-07'].map(async (text) => {
          const month = utcMonthOf(new Date(`${text}-01`));
          const summary = await statements.summaryOf(tenant.tenantId, month);
          const kinds: Record<string, number> = {};
          for await (const batch of statements.entriesOf(tenant.tenantId, month, summary, 2)) {
            for (const { kind, amount } of batch) kinds[kind] = (kinds[kind] ?? 0) + amount;
          }
          const { lastId: _, ...sums } = summary;
          return { sums, kinds };
        }),
      );
    const before = await summaries();
    expect(await findLedgerFaults(database)).toEqual([]);

    const now = new Date('2021-07-20T00:00:00Z');
    // The months of the log still exist, and their rows name the charges.
    expect(await fold(10, now)).toBe(0);
    await rollUpAll(database);
    await sweep(5, now);
    expect(await fold(60, now)).toBe(0);
    const [one, other] = await Promise.all([fold(10, now), fold(10, now)]);
    expect(one + other + (await fold(10, now))).toBe(5);
    expect(await hasTable('ledger_entries_2021_05')).toBe(false);
    expect(await hasTable('ledger_entries_2021_06')).toBe(false);
    expect(await summaries()).toEqual(before);
    expect(await findLedgerFaults(database)).toEqual([]);
    expect(await fold(10, now)).toBe(0);
  });

  async function insertEntry(
    tenant: TestTenant,
    requestedAt: string,
    createdAt: string,
    kind: string,
    amount: number,
  ): Promise<void> {
    await database.query(
      `WITH entry AS (
         INSERT INTO ledger_entries (tenant_id, kind, amount, request_id, created_at)
         VALUES ($1, $2, $3::bigint, $4, $5)
         RETURNING date_trunc('month', created_at AT TIME ZONE 'UTC')::date AS month
       ), months AS (
         INSERT INTO account_months AS existing (tenant_id, month, spent)
         SELECT $1, month, -$3::bigint FROM entry
         ON CONFLICT (tenant_id, month) DO UPDATE SET spent = existing.spent + excluded.spent
       )
       UPDATE accounts SET balance = balance + $3::bigint, spent = spent - $3::bigint
       WHERE tenant_id = $1`,
      [tenant.tenantId, kind, amount, idAt(requestedAt), createdAt],
    );
  }
});

/** Returns the calendar month (UTC) this many months from now, such as `2026-11`. */
function monthFromNow(months: number): string {
  let { start, end } = utcMonthOf(new Date());
  for (let count = 0; count < months; count++) ({ start, end } = utcMonthOf(end));
  expect(end.getTime() - start.getTime()).toBeGreaterThan(27 * DAY_MS);
  return start.toISOString().slice(0, 7);
}
