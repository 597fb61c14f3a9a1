import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BalanceReader } from '../../src/core/ledger/balance.reader.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import { RefundsService } from '../../src/core/ledger/refunds.service.js';
import type { SettlementRecord } from '../../src/core/ledger/ledger-operations.js';
import {
  connectLedger,
  createTenant,
  holdOperation,
  settleOperation,
  snapshot,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { DueWork } from '../../src/platform/database/due-work.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('work that outlives its process', () => {
  let own: TestDatabase;
  let ledger: TestLedger;
  let other: TestLedger;
  let tenant: TestTenant;

  beforeAll(async () => {
    own = await createTestDatabase();
    [ledger, other] = [await connectLedger(own.url), await connectLedger(own.url)];
    tenant = await createTenant(own.database, 1_000_000);
    await own.database.query('CREATE TABLE ends (id uuid PRIMARY KEY, winner text)');
  });
  afterAll(async () => {
    await ledger.close();
    await other.close();
    await own.drop();
  });

  const entrusted = async (amount = 100): Promise<string> => {
    const operation = holdOperation(tenant, amount);
    await ledger.store.hold(operation);
    await own.database.query('UPDATE holds SET instance_id = NULL WHERE request_id = $1', [
      operation.requestId,
    ]);
    await own.database.query('INSERT INTO ends (id) VALUES ($1)', [operation.requestId]);
    return operation.requestId;
  };
  const endAs = (requestId: string, winner: string): SettlementRecord => ({
    name: 'end-work',
    text: 'UPDATE ends SET winner = $2::text WHERE id = $1::uuid AND winner IS NULL',
    values: [requestId, winner],
    required: true,
  });
  const winnerOf = async (requestId: string): Promise<string | null> => {
    const { rows } = await own.database.query<{ winner: string | null }>(
      'SELECT winner FROM ends WHERE id = $1',
      [requestId],
    );
    return rows[0]!.winner;
  };

  it('keeps its hold when all processes are considered dead', async () => {
    const requestId = await entrusted();
    const abandoned = holdOperation(tenant, 30);
    await ledger.store.hold(abandoned);
    const sweeper = new HoldSweeperService(
      other.database,
      other.instance,
      new DueWork(other.database),
    );
    await sweeper.sweepNow({ assumeOthersDead: true });
    expect((await snapshot(own.database, tenant.tenantId)).held).toBe(100);
    await other.store.settle(settleOperation(tenant, requestId, 40));
    expect(await snapshot(own.database, tenant.tenantId)).toMatchObject({ held: 0, holds: 0 });
  });

  it('is ended, with its credits, by one of two instances that try at once', async () => {
    const before = await snapshot(own.database, tenant.tenantId);
    let charged = 0;
    const winners: (string | null)[] = [];
    for (let round = 0; round < 60; round++) {
      const requestId = await entrusted();
      const [success, cancelled] = await Promise.all([
        ledger.store.settle({
          ...settleOperation(tenant, requestId, 70),
          record: endAs(requestId, 'success'),
        }),
        (round % 3 === 0 ? ledger : other).store.settle({
          ...settleOperation(tenant, requestId, 0, { outcome: 'cancelled' }),
          record: endAs(requestId, 'cancelled'),
        }),
      ]);
      const winner = await winnerOf(requestId);
      winners.push(winner);
      expect([success.applied, cancelled.applied]).toEqual([
        winner === 'success',
        winner === 'cancelled',
      ]);
      if (winner === 'success') charged += 70;
    }
    expect(winners).not.toContain(null);
    const after = await snapshot(own.database, tenant.tenantId);
    expect(after.balance).toBe(before.balance - charged);
    expect(after).toMatchObject({ held: 0, holds: 0, entries: after.balance });
  });

  it('charges no more than its caller allows, whatever is held', async () => {
    const before = await snapshot(own.database, tenant.tenantId);
    const requestId = await entrusted();
    const operation = settleOperation(tenant, requestId, 90, { maxCost: 60 });
    const settled = await ledger.store.settle({ ...operation, record: endAs(requestId, 'capped') });
    expect(settled).toMatchObject({ cost: 60, shortfall: 30, applied: true });
    const after = await snapshot(own.database, tenant.tenantId);
    expect(after.balance).toBe(before.balance - 60);
    expect(after).toMatchObject({ held: 0, holds: 0, entries: after.balance });
  });

  it('is not settled when its record cannot be stored, and can be later', async () => {
    const requestId = await entrusted();
    const record = endAs(requestId, 'NUL \u0000');
    await expect(
      ledger.store.settle({ ...settleOperation(tenant, requestId, 10), record }),
    ).rejects.toThrow();
    expect((await snapshot(own.database, tenant.tenantId)).held).toBe(100);
    const settled = await ledger.store.settle({
      ...settleOperation(tenant, requestId, 10),
      record: endAs(requestId, 'later'),
    });
    expect(settled).toMatchObject({ applied: true, cost: 10 });
    expect(await winnerOf(requestId)).toBe('later');
  });

  it('is refunded once, however many decide it at the same time', async () => {
    const requestId = await entrusted();
    await ledger.store.settle(settleOperation(tenant, requestId, 90));
    const before = await snapshot(own.database, tenant.tenantId);
    const refunds = [new RefundsService(ledger.database), new RefundsService(other.database)];
    const claim = { tenantId: tenant.tenantId, requestId, decide: async () => true };
    const refunded = await Promise.all(
      Array.from({ length: 12 }, (_, index) => refunds[index % 2]!.refund(claim)),
    );
    expect(refunded.filter((credits) => credits === 90)).toHaveLength(1);
    expect(refunded.filter((credits) => credits === 0)).toHaveLength(11);
    const after = await snapshot(own.database, tenant.tenantId);
    expect(after).toMatchObject({ balance: before.balance + 90, spent: before.spent - 90 });
    expect(after.entries).toBe(after.balance);
  });

  it('is refunded its charge, even when its log row is gone', async () => {
    const { tenantId } = tenant;
    const requestId = await entrusted();
    const { balance } = await snapshot(own.database, tenantId);
    await ledger.store.settle(settleOperation(tenant, requestId, balance + 5));
    await own.database.query('DELETE FROM request_logs WHERE request_id = $1', [requestId]);
    const refunds = new RefundsService(ledger.database);
    const claim = { tenantId, requestId, decide: async () => true };
    expect(await refunds.refund(claim)).toBe(balance);
    const after = await snapshot(own.database, tenantId);
    expect([after.balance, after.entries]).toEqual([balance, balance]);
  });

  it('returns a refund to the limits of its key and its tenant', async () => {
    const limited = await createTenant(own.database, 1_000);
    const { tenantId, apiKeyId } = limited;
    await own.database.query('UPDATE api_keys SET monthly_spend_limit = 500 WHERE id = $1', [
      apiKeyId,
    ]);
    await own.database.query('UPDATE tenants SET monthly_spend_limit = 500 WHERE id = $1', [
      tenantId,
    ]);
    const hold = holdOperation(limited, 400, { spendLimited: true });
    expect(await ledger.store.hold(hold)).toMatchObject({ admitted: true });
    await ledger.store.settle(settleOperation(limited, hold.requestId, 400));
    const again = () => ledger.store.hold(holdOperation(limited, 200, { spendLimited: true }));
    expect(await again()).toMatchObject({ admitted: false, excess: { scope: 'key', left: 100 } });

    const refunds = new RefundsService(ledger.database);
    await refunds.refund({ tenantId, requestId: hold.requestId, decide: async () => true });
    const balances = new BalanceReader(own.database);
    expect(await balances.usedByKey(apiKeyId, new Date())).toBe(0);
    expect((await balances.monthOf(tenantId, new Date())).spent).toBe(0);
    expect(await again()).toMatchObject({ admitted: true });
  });

  it('is not refunded when the decision is negative or nothing was charged', async () => {
    const requestId = await entrusted();
    await ledger.store.settle(settleOperation(tenant, requestId, 0));
    const refunds = new RefundsService(ledger.database);
    const { tenantId } = tenant;
    const claim = { tenantId, requestId, decide: async () => true };
    expect(await refunds.refund(claim)).toBe(0);
    expect(await refunds.refund({ ...claim, decide: async () => false })).toBeUndefined();
    expect(await refunds.refund({ ...claim, requestId: randomUUID() })).toBe(0);
  });
});
