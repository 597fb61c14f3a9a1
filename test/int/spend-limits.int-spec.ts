import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { BalanceReader } from '../../src/core/ledger/balance.reader.js';
import type { HoldOutcome } from '../../src/core/ledger/ledger-operations.js';
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
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let ledgers: [TestLedger, TestLedger];
let balances: BalanceReader;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  ledgers = [await connectLedger(testDatabase.url), await connectLedger(testDatabase.url)];
  balances = new BalanceReader(testDatabase.database);
});

afterAll(async () => {
  for (const ledger of ledgers) await ledger.close();
  await testDatabase.drop();
});

const limitKey = (tenant: TestTenant, credits: number) =>
  testDatabase.database.query('UPDATE api_keys SET monthly_spend_limit = $2 WHERE id = $1', [
    tenant.apiKeyId,
    credits,
  ]);
const limitTenant = (tenant: TestTenant, credits: number) =>
  testDatabase.database.query('UPDATE tenants SET monthly_spend_limit = $2 WHERE id = $1', [
    tenant.tenantId,
    credits,
  ]);
const limitedHold = (tenant: TestTenant, amount: number) =>
  holdOperation(tenant, amount, { spendLimited: true });
const usedByKey = ({ apiKeyId }: TestTenant) => balances.usedByKey(apiKeyId, new Date());

async function spentByTenant({ tenantId }: TestTenant): Promise<number> {
  return (await balances.monthOf(tenantId, new Date())).spent;
}

describe('a monthly spend limit', () => {
  it.each([
    ['key', limitKey],
    ['tenant', limitTenant],
  ] as const)(
    'of a %s is never exceeded by 200 parallel requests on two ledgers',
    async (scope, limit) => {
      const tenant = await createTenant(testDatabase.database, 1_000_000);
      await limit(tenant, 1_050);
      const used = () =>
        scope === 'key' ? usedByKey(tenant) : heldAndSpentByTenant(testDatabase, tenant);
      let running = true;
      const sampling = (async () => {
        while (running) expect(await used()).toBeLessThanOrEqual(1_050);
      })();

      const holds = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const { store } = ledgers[index % 2]!;
          const operation = limitedHold(tenant, 100);
          const outcome = await store.hold(operation);
          return { store, operation, outcome };
        }),
      );
      const admitted = holds.filter(({ outcome }) => outcome.admitted);
      expect(admitted).toHaveLength(10);
      for (const { outcome } of holds) {
        if (!outcome.admitted) expect(outcome.excess).toEqual({ scope, limit: 1_050, left: 50 });
      }

      // Each costs 40 of its 100, so 650 are left of the month.
      for (const { store, operation } of admitted) {
        await store.settle(settleOperation(tenant, operation.requestId, 40));
      }
      expect(await used()).toBe(400);
      const more = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const { store } = ledgers[index % 2]!;
          const operation = limitedHold(tenant, 100);
          if (!(await store.hold(operation)).admitted) return 0;
          await store.settle(settleOperation(tenant, operation.requestId, 100));
          return 1;
        }),
      );
      running = false;
      await sampling;
      expect(more.reduce<number>((sum, one) => sum + one, 0)).toBe(6);
      expect(await used()).toBe(1_000);
      expect(await spentByTenant(tenant)).toBe(1_000);
      expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
    },
  );

  it('of a key is shared with its descendants under concurrent requests', async () => {
    const tenant = await createTenant(testDatabase.database, 1_000_000);
    await limitKey(tenant, 1_000);
    const { rows } = await testDatabase.database.query<{ id: string }>(
      `INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute,
                             monthly_spend_limit, ancestor_ids)
       SELECT $1, 'routing', 'child', gen_random_uuid()::text::bytea, 'sk-', 600, own, ARRAY[$2::uuid]
         FROM unnest(ARRAY[NULL, 300]) AS own RETURNING id`,
      [tenant.tenantId, tenant.apiKeyId],
    );
    const keys = [tenant.apiKeyId, ...rows.map(({ id }) => id)];
    const spent = new Map<string, number>();
    await Promise.all(
      Array.from({ length: 90 }, async (_, index) => {
        const { store } = ledgers[index % 2]!;
        const asker = { ...tenant, apiKeyId: keys[index % 3]! };
        const operation = limitedHold(asker, 50);
        if (!(await store.hold(operation)).admitted) return;
        await store.settle(settleOperation(asker, operation.requestId, 50));
        spent.set(asker.apiKeyId, (spent.get(asker.apiKeyId) ?? 0) + 50);
      }),
    );
    expect([...spent.values()].reduce((sum, each) => sum + each, 0)).toBe(1_000);
    expect(spent.get(keys[2]!) ?? 0).toBeLessThanOrEqual(300);
    expect(await usedByKey(tenant)).toBe(1_000);
    expect(await usedByKey({ ...tenant, apiKeyId: keys[2]! })).toBe(spent.get(keys[2]!) ?? 0);
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
  });

  it('holds for requests of mixed sizes, with covers, until nothing more fits', async () => {
    const tenant = await createTenant(testDatabase.database, 1_000_000);
    await limitKey(tenant, 5_000);
    await limitTenant(tenant, 4_000);
    await Promise.all(
      Array.from({ length: 40 }, async (_, caller) => {
        const { store } = ledgers[caller % 2]!;
        for (let round = 1; round <= 5; round++) {
          const operation = limitedHold(tenant, 10 * round + caller);
          if (!(await store.hold(operation)).admitted) continue;
          const cover = coverOperation(operation, 50, { limitedKeyId: tenant.apiKeyId });
          const charge = operation.amount + ((await store.cover(cover)) ?? 0);
          await store.settle(settleOperation(tenant, operation.requestId, charge));
        }
      }),
    );
    expect(await spentByTenant(tenant)).toBeLessThanOrEqual(4_000);
    expect(await spentByTenant(tenant)).toBeGreaterThan(3_850);
    expect(await usedByKey(tenant)).toBe(await spentByTenant(tenant));
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
  });

  it('refuses a cover that would exceed it, and leaves the hold unchanged', async () => {
    const { store } = ledgers[0];
    const tenant = await createTenant(testDatabase.database, 1_000);
    await limitKey(tenant, 100);
    const operation = limitedHold(tenant, 60);
    await store.hold(operation);
    const cover = (additional: number) =>
      store.cover(coverOperation(operation, additional, { limitedKeyId: tenant.apiKeyId }));
    expect(await cover(41)).toBeUndefined();
    expect(await usedByKey(tenant)).toBe(60);
    expect(await cover(40)).toBe(40);
    expect(await usedByKey(tenant)).toBe(100);
  });

  it('says whether credits or the limit are insufficient', async () => {
    const { store } = ledgers[0];
    const tenant = await createTenant(testDatabase.database, 50);
    await limitTenant(tenant, 100);
    const ask = (amount: number): Promise<HoldOutcome> => store.hold(limitedHold(tenant, amount));
    expect(await ask(60)).toEqual({ admitted: false, available: 50 });
    expect(await ask(101)).toEqual({
      admitted: false,
      available: 50,
      excess: { scope: 'tenant', limit: 100, left: 100 },
    });
    expect(await ask(50)).toEqual({ admitted: true });
  });

  it('starts again with the month', async () => {
    const { store } = ledgers[0];
    const tenant = await createTenant(testDatabase.database, 1_000);
    await limitKey(tenant, 100);
    await limitTenant(tenant, 100);
    const operation = limitedHold(tenant, 100);
    await store.hold(operation);
    await store.settle(settleOperation(tenant, operation.requestId, 100));
    expect((await store.hold(limitedHold(tenant, 1))).admitted).toBe(false);
    const aMonthAgo = `UPDATE key_months SET month = (month - interval '1 month')::date
                        WHERE api_key_id = $1`;
    await testDatabase.database.query(aMonthAgo, [tenant.apiKeyId]);
    await testDatabase.database.query(
      `UPDATE account_months SET month = (month - interval '1 month')::date WHERE tenant_id = $1`,
      [tenant.tenantId],
    );
    expect((await store.hold(limitedHold(tenant, 100))).admitted).toBe(true);
    expect((await store.hold(limitedHold(tenant, 1))).admitted).toBe(false);
  });

  it('neither delays nor refuses others of the same group', async () => {
    const { store } = ledgers[0];
    const [limited, free] = [
      await createTenant(testDatabase.database, 1_000),
      await createTenant(testDatabase.database, 1_000),
    ];
    await limitKey(limited, 0);
    const outcomes = await Promise.all([
      store.hold(holdOperation(free, 10)),
      store.hold(limitedHold(limited, 10)),
      store.hold(holdOperation(free, 10)),
    ]);
    expect(outcomes.map(({ admitted }) => admitted)).toEqual([true, false, true]);
  });

  it('keeps no rows of ended holds', async () => {
    const { store } = ledgers[1];
    const tenant = await createTenant(testDatabase.database, 1_000);
    await limitKey(tenant, 1_000);
    for (let round = 0; round < 5; round++) {
      const operation = limitedHold(tenant, 10);
      await store.hold(operation);
      await store.settle(settleOperation(tenant, operation.requestId, 1));
    }
    const { rowCount } = await testDatabase.database.query(
      'SELECT FROM key_holds WHERE api_key_id = $1',
      [tenant.apiKeyId],
    );
    expect(rowCount).toBeLessThanOrEqual(1);
  });
});

async function heldAndSpentByTenant(
  { database }: TestDatabase,
  { tenantId }: TestTenant,
): Promise<number> {
  const { rows } = await database.query<{ used: number }>(
    `SELECT held + coalesce((
        SELECT sum(spent)::bigint FROM account_months WHERE account_months.tenant_id = $1
      ), 0) AS used FROM accounts WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0]!.used;
}
