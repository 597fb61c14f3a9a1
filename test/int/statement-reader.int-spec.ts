import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { utcMonthOf } from '../../src/platform/time/dates.js';
import {
  StatementReader,
  type LedgerEntryKind,
  type StatementEntry,
} from '../../src/core/ledger/statement.reader.js';
import { createTenant } from '../support/ledger-factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let reader: StatementReader;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  reader = new StatementReader(testDatabase.database);
});
afterAll(() => testDatabase.drop());

const monthOf = (text: string) => utcMonthOf(new Date(`${text}-01T00:00:00Z`));

/** Inserts an entry into the ledger and updates its account. */
async function insert(
  tenantId: string,
  createdAt: string,
  kind: LedgerEntryKind,
  amount: number,
): Promise<void> {
  const isOperators = kind === 'grant' || kind === 'correction';
  const requestId = isOperators ? null : randomUUID();
  await testDatabase.database.query(
    `WITH entry AS (
       INSERT INTO ledger_entries (tenant_id, created_at, kind, amount, request_id)
       VALUES ($1, $2, $3, $4, $5) RETURNING tenant_id, kind, amount, created_at
     ), month AS (
       INSERT INTO account_months AS existing (tenant_id, month, spent)
       SELECT tenant_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, -amount
       FROM entry WHERE kind NOT IN ('grant', 'correction')
       ON CONFLICT (tenant_id, month) DO UPDATE SET spent = existing.spent + excluded.spent
     )
     UPDATE accounts SET balance = balance + amount FROM entry
     WHERE accounts.tenant_id = entry.tenant_id`,
    [tenantId, createdAt, kind, amount, requestId],
  );
}

async function entriesOf(tenantId: string, month: string, batchSize = 2) {
  const summary = await reader.summaryOf(tenantId, monthOf(month));
  const entries: StatementEntry[] = [];
  for await (const batch of reader.entriesOf(tenantId, monthOf(month), summary, batchSize)) {
    entries.push(...batch);
  }
  return { summary, entries };
}

describe(StatementReader.name, () => {
  it('chains the months of a ledger to the credit', async () => {
    const { tenantId } = await createTenant(testDatabase.database, 0);
    await insert(tenantId, '2026-01-10T00:00:00Z', 'grant', 1_000);
    await insert(tenantId, '2026-01-31T23:59:59.999999Z', 'charge', -300);
    await insert(tenantId, '2026-02-01T00:00:00Z', 'shortfall', 100);
    await insert(tenantId, '2026-02-01T00:00:00Z', 'charge', -800);
    await insert(tenantId, '2026-02-28T12:00:00Z', 'refund', 7);
    await insert(tenantId, '2026-03-01T00:00:00Z', 'correction', -4);
    await insert(tenantId, '2026-04-01T00:00:00Z', 'grant', 50);

    const balances: Record<string, [number, number, number]> = {};
    for (const month of ['2025-12', '2026-01', '2026-02', '2026-03', '2026-04', '9999-12']) {
      const { summary, entries } = await entriesOf(tenantId, month);
      const sum = entries.reduce((total, { amount }) => total + amount, 0);
      expect(summary.openingBalance + sum).toBe(summary.closingBalance);
      expect(Object.values(summary.totals).reduce((total, part) => total + part, 0)).toBe(sum);
      balances[month] = [summary.openingBalance, summary.closingBalance, entries.length];
    }
    expect(balances).toEqual({
      '2025-12': [0, 0, 0],
      '2026-01': [0, 700, 2],
      '2026-02': [700, 7, 3],
      '2026-03': [7, 3, 1],
      '2026-04': [3, 53, 1],
      '9999-12': [53, 53, 0],
    });
    const { summary } = await entriesOf(tenantId, '2026-02');
    expect(summary.totals).toEqual({
      grant: 0,
      correction: 0,
      charge: -800,
      shortfall: 100,
      refund: 7,
    });
  });

  it.each([1, 3, 4, 1_000])(
    'returns each entry once, oldest first, in batches of %i',
    async (size) => {
      const { tenantId } = await createTenant(testDatabase.database, 0);
      await insert(tenantId, '2026-01-02T00:00:00.000002Z', 'grant', 3);
      // The same millisecond, and the same instant.
      await insert(tenantId, '2026-01-02T00:00:00.000001Z', 'grant', 1);
      await insert(tenantId, '2026-01-02T00:00:00.000001Z', 'grant', 2);
      await insert(tenantId, '2026-01-03T00:00:00Z', 'charge', -4);
      const { entries } = await entriesOf(tenantId, '2026-01', size);
      expect(entries.map(({ amount }) => amount)).toEqual([1, 2, 3, -4]);
      expect(entries.map(({ requestId }) => requestId === null)).toEqual([true, true, true, false]);
    },
  );

  it('excludes entries later than its summary', async () => {
    const { tenantId } = await createTenant(testDatabase.database, 0);
    await insert(tenantId, '2026-01-02T00:00:00Z', 'grant', 3);
    const summary = await reader.summaryOf(tenantId, monthOf('2026-01'));
    await insert(tenantId, '2026-01-03T00:00:00Z', 'grant', 4);
    const batches = reader.entriesOf(tenantId, monthOf('2026-01'), summary, 10);
    expect((await batches.next()).value).toHaveLength(1);
  });

  it('shows nothing of another tenant', async () => {
    const [own, other] = [
      await createTenant(testDatabase.database, 0),
      await createTenant(testDatabase.database, 0),
    ];
    await insert(other.tenantId, '2026-01-02T00:00:00Z', 'grant', 3);
    const { summary, entries } = await entriesOf(own.tenantId, '2026-01');
    expect([summary.openingBalance, summary.closingBalance, entries]).toEqual([0, 0, []]);
  });
});
