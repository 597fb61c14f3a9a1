import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InternalError } from '../../src/platform/errors/gateway-errors.js';
import { BalanceReader } from '../../src/core/ledger/balance.reader.js';
import { LedgerStore } from '../../src/core/ledger/ledger-store.js';
import {
  connectLedger,
  createTenant,
  holdOperation,
  logDraft,
  logRowOf,
  openHold,
  settleOperation,
  snapshot,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let ledger: TestLedger;
let store: LedgerStore;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  ledger = await connectLedger(testDatabase.url);
  store = ledger.store;
});

afterAll(async () => {
  await ledger.close();
  await testDatabase.drop();
});

const open = (tenant: TestTenant, amount: number) => openHold(ledger, tenant, amount);
const logRow = (requestId: string) => logRowOf(testDatabase.database, requestId);

async function entriesOf(requestId: string): Promise<{ kind: string; amount: number }[]> {
  const { rows } = await testDatabase.database.query<{ kind: string; amount: number }>(
    'SELECT kind, amount FROM ledger_entries WHERE request_id = $1 ORDER BY id',
    [requestId],
  );
  return rows;
}

describe('LedgerStore.hold', () => {
  it('admits exactly as many of 200 concurrent holds as there are credits for', async () => {
    const tenant = await createTenant(testDatabase.database, 50);
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, () => store.hold(holdOperation(tenant, 1))),
    );
    expect(outcomes.filter((outcome) => outcome.admitted)).toHaveLength(50);
    expect(outcomes.filter((outcome) => !outcome.admitted)).toHaveLength(150);
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
      balance: 50,
      held: 50,
      holds: 50,
    });
  });

  it('refuses what does not fit, returns the available credits, and admits smaller ones after it', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const outcomes = await Promise.all(
      [60, 50, 30, 11, 10].map((amount) => store.hold(holdOperation(tenant, amount))),
    );
    expect(outcomes).toEqual([
      { admitted: true },
      { admitted: false, available: 40 },
      { admitted: true },
      { admitted: false, available: 10 },
      { admitted: true },
    ]);
  });

  it('finds its rows by index, however many tenants there are', async () => {
    const { database } = testDatabase;
    await database.query(
      `WITH tenant AS (
         INSERT INTO tenants (name) SELECT 'tenant ' || n FROM generate_series(1, 10000) AS n RETURNING id
       ), account AS (INSERT INTO accounts (tenant_id) SELECT id FROM tenant)
       INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
       SELECT id, 'routing', 'key', decode(md5(id::text), 'hex'), 'sk-', 600 FROM tenant`,
    );
    await database.query('ANALYZE');
    const tenant = await createTenant(database, 1_000);
    const settleMany = async (): Promise<void> => {
      const holds = Array.from({ length: 20 }, () => holdOperation(tenant, 1));
      await Promise.all(holds.map((operation) => store.hold(operation)));
      const settled = holds.map(({ requestId }) => settleOperation(tenant, requestId, 1));
      await Promise.all(settled.map((operation) => store.settle(operation)));
    };
    const rowsRead = async (): Promise<number> => {
      // Sessions report their statistics once a second, with a statement.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await settleMany();
      const { rows } = await database.query<{ read: number }>(
        `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int8 AS read FROM pg_stat_user_tables
         WHERE relname IN ('accounts', 'api_keys', 'account_months')`,
      );
      return rows[0]?.read ?? NaN;
    };
    const before = await rowsRead();
    for (let round = 0; round < 5; round++) await settleMany();
    // A hundred holds and settlements read a few rows each.
    expect((await rowsRead()) - before).toBeLessThan(5_000);
  });

  it('resets its connection, so that settlements wait for the disk', async () => {
    const tenant = await createTenant(testDatabase.database, 10);
    await open(tenant, 10);
    const pool = ledger.database.ledgerPool;
    const clients = await Promise.all(
      Array.from({ length: pool.totalCount }, () => pool.connect()),
    );
    const settings = await Promise.all(
      clients.map((client) => client.query('SHOW synchronous_commit')),
    );
    for (const client of clients) client.release();
    expect(settings.map(({ rows }) => rows as unknown)).toEqual(
      clients.map(() => [{ synchronous_commit: 'on' }]),
    );
  });

  it('admits holds against credits released by a settlement in the same group', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const requestId = await open(tenant, 100);
    const [next] = await Promise.all([
      store.hold(holdOperation(tenant, 90)),
      store.settle(settleOperation(tenant, requestId, 10)),
    ]);
    expect(next).toEqual({ admitted: true });
  });

  it('treats a tenant without an account as one without credits', async () => {
    const tenant = await createTenant(testDatabase.database, 'no account');
    expect(await store.hold(holdOperation(tenant, 1))).toEqual({ admitted: false, available: 0 });
    expect(await store.hold(holdOperation(tenant, 0))).toEqual({ admitted: true });
    expect(await store.hold(holdOperation({ ...tenant, tenantId: randomUUID() }, 1))).toEqual({
      admitted: false,
      available: 0,
    });
  });

  it('refuses more than any account can have', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    for (const amount of [2 ** 60, Infinity]) {
      const outcome = await store.hold(holdOperation(tenant, amount));
      expect(outcome).toEqual({ admitted: false, available: 100 });
    }
  });

  it.each([-1, 0.5, NaN, -Infinity])('rejects the invalid amount %p', async (amount) => {
    const tenant = await createTenant(testDatabase.database, 100);
    await expect(store.hold(holdOperation(tenant, amount))).rejects.toBeInstanceOf(InternalError);
  });
});

describe('LedgerStore.cover', () => {
  it('enlarges an open hold as long as credits are available', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const requestId = await open(tenant, 40);
    const covers = await Promise.all(
      [30, 31, 30].map((additional) => store.cover({ ...tenant, requestId, additional })),
    );
    expect(covers).toEqual([30, undefined, 30]);
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
      held: 100,
      holds: 100,
    });
  });

  it('is refused without a hold, and changes nothing', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const cover = store.cover({ ...tenant, requestId: randomUUID(), additional: 5 });
    expect(await cover).toBeUndefined();
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({ held: 0 });
  });
});

describe('LedgerStore.settle', () => {
  it('ends the hold and writes row, entry and counters', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const requestId = await open(tenant, 60);
    const createdAt = new Date('2025-03-04T05:06:07.089Z');
    const outcome = await store.settle(
      settleOperation(
        tenant,
        requestId,
        { modelCharge: 20, byokPlatformFee: 3, managedToolFee: 2 },
        { createdAt, latencyMs: 2 ** 40, streamed: true },
      ),
    );
    expect(outcome).toEqual({ cost: 25, shortfall: 0, applied: true });
    expect(await logRow(requestId)).toMatchObject({
      tenant_id: tenant.tenantId,
      api_key_id: tenant.apiKeyId,
      status: 'success',
      outcome: 'completed',
      finish_reason: 'stop',
      prompt_tokens: 7,
      completion_tokens: 3,
      cost: 25,
      model_charge: 20,
      byok_platform_fee: 3,
      managed_tool_fee: 2,
      shortfall: 0,
      streamed: true,
      latency_ms: 2 ** 31 - 1,
      created_at: createdAt,
    });
    expect(await entriesOf(requestId)).toEqual([{ kind: 'charge', amount: -25 }]);
    const reader = new BalanceReader(testDatabase.database);
    expect(await reader.balanceOf(tenant.tenantId)).toEqual({
      balance: 75,
      held: 0,
      available: 75,
      granted: 100,
      spent: 25,
      requestCount: 1,
    });
    // The month of the commit counts, not that of the request.
    expect(await reader.monthOf(tenant.tenantId, new Date())).toEqual({
      spent: 25,
      requestCount: 1,
    });
    expect(await reader.monthOf(tenant.tenantId, createdAt)).toEqual({ spent: 0, requestCount: 0 });
    const { rows } = await testDatabase.database.query(
      'SELECT request_count, total_spend, last_used_at FROM api_keys WHERE id = $1',
      [tenant.apiKeyId],
    );
    expect(rows).toEqual([{ request_count: 1, total_spend: 25, last_used_at: createdAt }]);
  });

  it('writes no entry for a request that costs nothing', async () => {
    const tenant = await createTenant(testDatabase.database, 10);
    const requestId = await open(tenant, 10);
    await store.settle(
      settleOperation(tenant, requestId, 0, { outcome: 'failed', errorType: 'provider_error' }),
    );
    expect(await entriesOf(requestId)).toEqual([]);
    expect(await logRow(requestId)).toMatchObject({ status: 'error', cost: 0 });
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
      balance: 10,
      held: 0,
      requests: 1,
    });
  });

  it('settles a request once, however often and concurrently it is called', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const requestId = await open(tenant, 50);
    const operation = settleOperation(tenant, requestId, 30);
    const outcomes = await Promise.all([1, 2, 3].map(() => store.settle(operation)));
    expect(outcomes).toEqual([
      { cost: 30, shortfall: 0, applied: true },
      { cost: 30, shortfall: 0, applied: false },
      { cost: 30, shortfall: 0, applied: false },
    ]);
    const later = await store.settle(settleOperation(tenant, requestId, 70));
    expect(later).toEqual({ cost: 30, shortfall: 0, applied: false });
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
      balance: 70,
      held: 0,
      spent: 30,
      requests: 1,
      entries: 70,
    });
  });

  it('takes the part above the hold from available credits, but never from other holds', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const requestId = await open(tenant, 20);
    await open(tenant, 50);
    const outcome = await store.settle(
      settleOperation(tenant, requestId, {
        modelCharge: 55,
        byokPlatformFee: 4,
        managedToolFee: 6,
      }),
    );
    expect(outcome).toEqual({ cost: 50, shortfall: 15, applied: true });
    expect(await entriesOf(requestId)).toEqual([
      { kind: 'charge', amount: -65 },
      { kind: 'shortfall', amount: 15 },
    ]);
    expect(await logRow(requestId)).toMatchObject({
      cost: 50,
      model_charge: 40,
      byok_platform_fee: 4,
      managed_tool_fee: 6,
      shortfall: 15,
    });
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
      balance: 50,
      held: 50,
      spent: 50,
      entries: 50,
    });
  });

  it('still records and charges a request whose hold is missing', async () => {
    const tenant = await createTenant(testDatabase.database, 10);
    const outcome = await store.settle(settleOperation(tenant, randomUUID(), 4));
    expect(outcome).toEqual({ cost: 4, shortfall: 0, applied: true });
    const without = await createTenant(testDatabase.database, 'no account');
    const unpaid = await store.settle(settleOperation(without, randomUUID(), 4));
    expect(unpaid).toEqual({ cost: 0, shortfall: 4, applied: true });
    expect(await snapshot(testDatabase.database, without.tenantId)).toMatchObject({
      balance: 0,
      requests: 1,
      entries: 0,
    });
  });

  it('charges nothing for an invalid number, and all available credits for an infinite one', async () => {
    const tenant = await createTenant(testDatabase.database, 10);
    const outcomes = await Promise.all(
      [NaN, -5, Infinity].map((charge) =>
        store.settle(settleOperation(tenant, randomUUID(), charge)),
      ),
    );
    expect(outcomes.map(({ cost }) => cost)).toEqual([0, 0, 10]);
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({ balance: 0 });
  });
});

describe('LedgerStore.record', () => {
  it('writes the row of a request that never had a hold', async () => {
    const tenant = await createTenant(testDatabase.database, 10);
    const requestId = randomUUID();
    await store.record(
      logDraft(tenant, requestId, { outcome: 'refused', errorType: 'insufficient_credits' }),
    );
    expect(await logRow(requestId)).toMatchObject({
      status: 'error',
      outcome: 'refused',
      error_type: 'insufficient_credits',
      cost: 0,
    });
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({ requests: 1 });
  });
});
