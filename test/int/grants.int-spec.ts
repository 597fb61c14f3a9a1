import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InvalidRequestError, NotFoundError } from '../../src/platform/errors/gateway-errors.js';
import { BalanceReader } from '../../src/core/ledger/balance.reader.js';
import { GrantsService } from '../../src/core/ledger/grants.service.js';
import { brokenAccounts, createTenant } from '../support/ledger-factories.js';
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
  it('opens the account with the first grant and adds every later one, also at once', async () => {
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

  it('refuses what would make the account larger than a number can say', async () => {
    const tenant = await createTenant(testDatabase.database, 7);
    await expect(grants.grant(tenant.tenantId, Number.MAX_SAFE_INTEGER - 6)).rejects.toBeInstanceOf(
      InvalidRequestError,
    );
    await grants.grant(tenant.tenantId, Number.MAX_SAFE_INTEGER - 7);
    expect((await reader.balanceOf(tenant.tenantId)).balance).toBe(Number.MAX_SAFE_INTEGER);
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
  });

  it('refuses a tenant that does not exist', async () => {
    await expect(grants.grant(randomUUID(), 5)).rejects.toBeInstanceOf(NotFoundError);
  });
});
