import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { FREE } from '../../src/canonical/exact-pricing.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import { DueWork } from '../../src/platform/database/due-work.js';
import { DatabaseUnavailableError } from '../../src/platform/errors/gateway-errors.js';
import {
  brokenAccounts,
  connectLedger,
  createTenant,
  coverOperation,
  holdOperation,
  logDraft,
  settleOperation,
  snapshot,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

// A stalled machine makes holds exceed their patience.
jest.retryTimes(2);

/** The ledger under test reaches its database through a proxy; the test itself does not. */
let testDatabase: TestDatabase;
let proxy: TcpProxy;
let ledger: TestLedger;
let tenant: TestTenant;
/** Sessions that hold locks until their test ends. */
const blockers: pg.Client[] = [];

beforeEach(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  proxy = await TcpProxy.before(testDatabase.url);
  ledger = await connectLedger(proxy.inFrontOf(testDatabase.url));
  tenant = await createTenant(testDatabase.database, 1_000);
});

afterEach(async () => {
  await Promise.all(blockers.splice(0).map((blocker) => blocker.end()));
  await ledger.close();
  await proxy.cut();
  await testDatabase.drop();
});

async function account() {
  return snapshot(testDatabase.database, tenant.tenantId);
}

/** Returns the milliseconds until the promise rejects with a DatabaseUnavailableError. */
async function rejectionMs(promise: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await expect(promise).rejects.toBeInstanceOf(DatabaseUnavailableError);
  return performance.now() - startMs;
}

describe('a database outage of 3 seconds', () => {
  it('keeps settlements waiting, fails holds within 2 s, and loses nothing', async () => {
    const operations = Array.from({ length: 20 }, () => holdOperation(tenant, 10));
    await Promise.all(operations.map((operation) => ledger.store.hold(operation)));
    await proxy.cut();

    const settlements = operations.map(({ requestId }) =>
      ledger.store.settle(settleOperation(tenant, requestId, 7)),
    );
    const record = ledger.store.record(
      logDraft(tenant, holdOperation(tenant, 0).requestId, { outcome: 'refused' }),
    );
    const [holdMs, coverMs] = await Promise.all([
      rejectionMs(ledger.store.hold(holdOperation(tenant, 10))),
      rejectionMs(ledger.store.cover(coverOperation(operations[0]!, 1))),
    ]);
    expect(Math.max(holdMs, coverMs)).toBeLessThan(8_000);
    expect(ledger.store.pendingSettlements).toBe(21);
    await pause(1_000);
    await proxy.open();

    const outcomes = await Promise.all(settlements);
    await record;
    expect(outcomes.every((outcome) => outcome.applied && outcome.cost === 7)).toBe(true);
    expect(ledger.store.pendingSettlements).toBe(0);
    expect(await account()).toMatchObject({ balance: 860, held: 0, holds: 0, requests: 21 });
    expect(ledger.instance.holds.size).toBe(0);
  });

  it('admits a hold requested shortly before the recovery', async () => {
    await proxy.cut();
    const hold = ledger.store.hold(holdOperation(tenant, 10));
    await pause(100);
    await proxy.open();
    expect(await hold).toEqual({ admitted: true });
  });
});

/** Prefix of the prepared statement for ordinary groups, which is a transaction by itself. */
const QUICK = 'ledger-quick';

describe('a commit whose response is lost', () => {
  it('settles once', async () => {
    const operation = holdOperation(tenant, 10);
    await ledger.store.hold(operation);
    proxy.loseNextReplyTo(QUICK);
    const outcome = await ledger.store.settle(settleOperation(tenant, operation.requestId, 7));
    expect(outcome).toEqual({ cost: 7, shortfall: 0, applied: true });
    expect(await account()).toMatchObject({ balance: 993, held: 0, spent: 7, requests: 1 });
  });

  it('holds once', async () => {
    proxy.loseNextReplyTo(QUICK);
    expect(await ledger.store.hold(holdOperation(tenant, 700))).toEqual({ admitted: true });
    expect(await account()).toMatchObject({ held: 700, holds: 700 });
  });

  it('fails a cover, and its hold still ends completely', async () => {
    const operation = holdOperation(tenant, 10);
    await ledger.store.hold(operation);
    proxy.loseNextReplyTo('COMMIT');
    await rejectionMs(ledger.store.cover(coverOperation(operation, 5)));
    await ledger.store.settle(settleOperation(tenant, operation.requestId, 1));
    expect(await account()).toMatchObject({ balance: 999, held: 0, holds: 0 });
  });

  it('leaves no hold whose caller was told that it failed', async () => {
    // The retry finds no database until the caller has given up.
    proxy.loseNextReplyTo(QUICK, { thenCut: true });
    await rejectionMs(ledger.store.hold(holdOperation(tenant, 10)));
    expect(await account()).toMatchObject({ held: 10, holds: 10 });
    await proxy.open();
    await ledger.store.drain();
    expect(await account()).toMatchObject({ held: 0, holds: 0 });
  });
});

describe('a failover to a server that lacks the latest commits', () => {
  it('writes the prices of settlements again', async () => {
    const { database } = testDatabase;
    const settle = async (): Promise<void> => {
      const { requestId } = holdOperation(tenant, 0);
      const billedBy = { pricing: FREE };
      await ledger.store.record(logDraft(tenant, requestId, { billedBy }));
    };
    await settle();
    await proxy.cut();
    const lost = await database.query('DELETE FROM price_sheets');
    await proxy.open();
    await settle();
    const { rows } = await database.query(
      'SELECT price_sheets.id FROM request_logs LEFT JOIN price_sheets ON price_sheet = price_sheets.id',
    );
    expect(lost.rowCount).toBe(1);
    expect(rows).toEqual([rows[0], rows[0]]);
    expect(rows[0]).toMatchObject({ id: expect.any(String) });
  });
});

describe('a statement that arrives after its connection was given up', () => {
  it('leaves no hold after the next sweep', async () => {
    const open = holdOperation(tenant, 20);
    await ledger.store.hold(open);
    const arrive = proxy.delay(QUICK);
    const hold = rejectionMs(ledger.store.hold(holdOperation(tenant, 10)));
    await pause(100);
    await proxy.cut();
    await hold;
    await proxy.open();
    await ledger.store.drain();
    expect(arrive()).toBe(true);
    await until(async () => (await account()).held === 30);

    const { database, instance } = ledger;
    const sweeper = new HoldSweeperService(database, instance, new DueWork(database));
    expect(await sweeper.sweepNow({ assumeOthersDead: false })).toBe(1);
    expect(await account()).toMatchObject({ held: 20, holds: 20 });
    await ledger.store.settle(settleOperation(tenant, open.requestId, 7));
    expect(await account()).toMatchObject({ balance: 993, held: 0, holds: 0 });
  });
});

describe('an account locked by another transaction', () => {
  it('fails a hold within 2 s and releases it when it is opened after all', async () => {
    const blocker = new pg.Client({ connectionString: testDatabase.url });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT FROM accounts WHERE tenant_id = $1 FOR UPDATE', [tenant.tenantId]);

    const operation = holdOperation(tenant, 10);
    // A statement that waits for a lock may take ten seconds.
    expect(await rejectionMs(ledger.store.hold(operation))).toBeLessThan(8_000);
    await blocker.query('COMMIT');
    await blocker.end();
    await ledger.store.drain();
    expect(await account()).toMatchObject({ held: 0, holds: 0 });
  });
});

describe('rows of one tenant locked by another transaction', () => {
  it.each(['accounts WHERE tenant_id', 'api_keys WHERE tenant_id'])(
    'do not delay other tenants (%s)',
    async (rows) => {
      const other = await createTenant(testDatabase.database, 1_000);
      const operations = [tenant, other].map((owner) => holdOperation(owner, 10));
      for (const operation of operations) await ledger.store.hold(operation);
      const blocker = new pg.Client({ connectionString: testDatabase.url });
      await blocker.connect();
      blockers.push(blocker);
      await blocker.query(`BEGIN; SELECT FROM ${rows} = '${tenant.tenantId}' FOR UPDATE`);

      const [locked, free] = operations.map(({ requestId, tenantId, apiKeyId }) =>
        ledger.store.settle(settleOperation({ tenantId, apiKeyId }, requestId, 7)),
      );
      expect(await free).toMatchObject({ applied: true });
      const startMs = performance.now();
      for (let count = 0; count < 5; count++) {
        const operation = holdOperation(other, 10);
        expect(await ledger.store.hold(operation)).toEqual({ admitted: true });
        await ledger.store.settle(settleOperation(other, operation.requestId, 7));
      }
      // In one batch with the locked tenant, each of the five would take two seconds or more.
      expect(performance.now() - startMs).toBeLessThan(4_000);
      expect(await account()).toMatchObject({ balance: 1_000, held: 10 });

      await blocker.query('COMMIT');
      expect(await locked).toEqual({ cost: 7, shortfall: 0, applied: true });
      await ledger.store.drain();
      expect(await account()).toMatchObject({ balance: 993, held: 0, holds: 0 });
      expect(await brokenAccounts(testDatabase.database, [tenant, other])).toEqual([]);
    },
  );
});

describe('connections killed under load', () => {
  it('lose and repeat no operation', async () => {
    const tenants = await Promise.all(
      [1, 2, 3].map(() => createTenant(testDatabase.database, 1_000_000)),
    );
    let running = true;
    let kills = 0;
    const killing = (async () => {
      for (let round = 0; round < 15; round++) {
        await pause(150);
        const { rows } = await testDatabase.database.query<{ killed: number }>(
          `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) AS killed FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        );
        kills += rows[0]!.killed;
      }
      running = false;
    })();

    const charges = new Map<string, number>();
    let failedHolds = 0;
    const callers = Array.from({ length: 16 }, async (_, index) => {
      const caller = tenants[index % tenants.length]!;
      for (let round = 0; running; round++) {
        const operation = holdOperation(caller, 50);
        const hold = await ledger.store.hold(operation).catch(() => undefined);
        if (!hold) {
          failedHolds += 1;
          continue;
        }
        expect(hold).toEqual({ admitted: true });
        const charge = (index + round) % 70;
        charges.set(operation.requestId, charge);
        const outcome = await ledger.store.settle(
          settleOperation(caller, operation.requestId, charge),
        );
        expect(outcome).toEqual({ cost: charge, shortfall: 0, applied: true });
      }
    });
    await Promise.all([...callers, killing]);
    await ledger.store.drain();

    expect(kills).toBeGreaterThan(5);
    expect(charges.size).toBeGreaterThan(50);
    // Each kill costs a retry, which is well within a hold's patience.
    expect(failedHolds).toBe(0);
    expect(await brokenAccounts(testDatabase.database, tenants)).toEqual([]);
    const { rows } = await testDatabase.database.query<{ request_id: string; cost: number }>(
      'SELECT request_id, cost FROM request_logs',
    );
    expect(new Map(rows.map(({ request_id, cost }) => [request_id, cost]))).toEqual(charges);
    expect(rows).toHaveLength(charges.size);
    const holds = await testDatabase.database.query('SELECT FROM holds');
    expect([holds.rowCount, ledger.instance.holds.size]).toEqual([0, 0]);
  });
});
