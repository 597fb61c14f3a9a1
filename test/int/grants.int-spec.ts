import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ConflictError,
  InvalidRequestError,
  NotFoundError,
} from '../../src/platform/errors/gateway-errors.js';
import { BalanceReader } from '../../src/core/ledger/balance.reader.js';
import { GrantsService } from '../../src/core/ledger/grants.service.js';
import {
  brokenAccounts,
  connectLedger,
  createTenant,
  holdOperation,
  settleOperation,
} from '../support/ledger-factories.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let grants: GrantsService;
let reader: BalanceReader;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  grants = new GrantsService(testDatabase.database);
  reader = new BalanceReader(testDatabase.database);
});

afterAll(async () => {
  await testDatabase.drop();
});

describe(GrantsService.name, () => {
  it('opens the account with the first grant and adds later ones, also concurrently', async () => {
    const tenant = await createTenant(testDatabase.database, 'no account');
    expect((await reader.balanceOf(tenant.tenantId)).balance).toBe(0);
    await Promise.all([5, 10, 20].map((credits) => grants.grant(tenant.tenantId, credits)));
    expect(await reader.balanceOf(tenant.tenantId)).toEqual({
      balance: 35,
      held: 0,
      available: 35,
      granted: 35,
      spent: 0,
      requestCount: 0,
    });
    const { rows } = await testDatabase.database.query(
      `SELECT kind, amount FROM ledger_entries WHERE tenant_id = $1 ORDER BY amount`,
      [tenant.tenantId],
    );
    expect(rows).toEqual([5, 10, 20].map((amount) => ({ kind: 'grant', amount })));
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
  });

  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 53])('refuses %p', async (credits) => {
    const tenant = await createTenant(testDatabase.database, 7);
    await expect(grants.grant(tenant.tenantId, credits)).rejects.toBeInstanceOf(
      InvalidRequestError,
    );
    expect((await reader.balanceOf(tenant.tenantId)).balance).toBe(7);
  });

  it('rejects a grant beyond the largest safe balance', async () => {
    const tenant = await createTenant(testDatabase.database, 7);
    await expect(grants.grant(tenant.tenantId, Number.MAX_SAFE_INTEGER - 6)).rejects.toBeInstanceOf(
      InvalidRequestError,
    );
    await grants.grant(tenant.tenantId, Number.MAX_SAFE_INTEGER - 7);
    expect((await reader.balanceOf(tenant.tenantId)).balance).toBe(Number.MAX_SAFE_INTEGER);
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
  });

  it('rejects an unknown tenant', async () => {
    await expect(grants.grant(randomUUID(), 5)).rejects.toBeInstanceOf(NotFoundError);
  });

  it('corrects up and down, and never touches held credits', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const { tenantId } = tenant;
    await setHeld(tenantId, 30);
    expect(await correct(tenantId, -70, 'paid back')).toMatchObject({
      kind: 'correction',
      amount: -70,
      memo: 'paid back',
    });
    await expect(correct(tenantId, -1)).rejects.toMatchObject({
      status: 409,
      param: 'credits',
      message: expect.stringMatching(/At most 0 credits .* balance is 30, .* requests hold 30/),
    });
    await correct(tenantId, 5);
    expect(await reader.balanceOf(tenantId)).toMatchObject({
      balance: 35,
      available: 5,
      granted: 35,
      spent: 0,
    });
    await setHeld(tenantId, 0);
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
    expect(await findLedgerFaults(testDatabase.database)).toEqual([]);
  });

  it.each([0, 1.5, NaN, 2 ** 53])('rejects a correction of %p', async (credits) => {
    const { tenantId } = await createTenant(testDatabase.database, 7);
    await expect(correct(tenantId, credits)).rejects.toBeInstanceOf(InvalidRequestError);
    expect((await reader.balanceOf(tenantId)).balance).toBe(7);
  });

  it('corrects no account beyond the largest safe balance, and no missing account', async () => {
    const { tenantId } = await createTenant(testDatabase.database, 7);
    await expect(correct(tenantId, Number.MAX_SAFE_INTEGER - 6)).rejects.toBeInstanceOf(
      InvalidRequestError,
    );
    const none = await createTenant(testDatabase.database, 'no account');
    await expect(correct(none.tenantId, -1)).rejects.toBeInstanceOf(ConflictError);
  });

  it('never lets concurrent corrections and charges make a balance negative', async () => {
    const ledger = await connectLedger(testDatabase.url);
    const tenant = await createTenant(testDatabase.database, 1_000);
    const charge = async (): Promise<number> => {
      const operation = holdOperation(tenant, 40);
      if (!(await ledger.store.hold(operation)).admitted) return 0;
      await ledger.store.settle(settleOperation(tenant, operation.requestId, 30));
      return 30;
    };
    const take = (): Promise<number> =>
      correct(tenant.tenantId, -45).then(
        ({ amount }) => -amount,
        (error) => {
          if (error instanceof ConflictError) return 0;
          throw error;
        },
      );
    const moves = Array.from({ length: 50 }, (_, index) => (index % 2 ? charge() : take()));
    const moved = (await Promise.all(moves)).reduce((sum, credits) => sum + credits, 0);
    const { balance, available } = await reader.balanceOf(tenant.tenantId);
    expect(balance).toBe(1_000 - moved);
    expect(available).toBe(balance);
    // 25 of each request 1,875; refused ones leave no trace.
    expect(balance).toBeGreaterThanOrEqual(0);
    await expect(correct(tenant.tenantId, -balance - 1)).rejects.toBeInstanceOf(ConflictError);
    if (balance > 0) await correct(tenant.tenantId, -balance);
    expect((await reader.balanceOf(tenant.tenantId)).balance).toBe(0);
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
    expect(await findLedgerFaults(testDatabase.database)).toEqual([]);
    await ledger.close();
  });

  function correct(tenantId: string, credits: number, memo: string | null = null) {
    return testDatabase.database.transaction((client) =>
      grants.correctWithin(client, tenantId, credits, memo),
    );
  }

  async function setHeld(tenantId: string, credits: number): Promise<void> {
    await testDatabase.database.query('UPDATE accounts SET held = $2 WHERE tenant_id = $1', [
      tenantId,
      credits,
    ]);
  }
});
