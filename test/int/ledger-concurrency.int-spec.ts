import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { LedgerStore } from '../../src/core/ledger/ledger-store.js';
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
} from '../support/ledger-factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let ledger: TestLedger;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  ledger = await connectLedger(testDatabase.url);
});

afterAll(async () => {
  await ledger.close();
  await testDatabase.drop();
});

describe('several instances', () => {
  it('never lose, create or overdraw a credit while they work on the same tenants', async () => {
    const other = await connectLedger(testDatabase.url);
    const random = seededRandom(20_251_121);
    const tenants = await Promise.all(
      [3_000, 500, 50_000].map((credits) => createTenant(testDatabase.database, credits)),
    );
    let running = true;
    let samples = 0;
    const sampling = (async () => {
      while (running) {
        expect(await brokenAccounts(testDatabase.database, tenants)).toEqual([]);
        samples += 1;
      }
    })();

    const failures: unknown[] = [];
    let admitted = 0;
    const request = async (store: LedgerStore) => {
      const tenant = tenants[random(3)]!;
      const operation = holdOperation(tenant, random(40));
      const hold = await store.hold(operation);
      if (!hold.admitted) {
        return store.record(logDraft(tenant, operation.requestId, { outcome: 'refused' }));
      }
      admitted += 1;
      if (random(4) === 0) await store.cover(coverOperation(operation, random(30)));
      const charge = random(5) === 0 ? random(100) : random(operation.amount + 1);
      await store.settle(settleOperation(tenant, operation.requestId, charge));
      if (random(20) === 0) {
        await store.settle(settleOperation(tenant, operation.requestId, random(9)));
      }
    };
    const callers = Array.from({ length: 24 }, async (_, index) => {
      for (let round = 0; round < 60; round++) {
        await request(index % 2 === 0 ? ledger.store : other.store).catch((error) =>
          failures.push(error),
        );
      }
    });
    await Promise.all(callers);
    running = false;
    await sampling;

    expect(failures).toEqual([]);
    expect(admitted).toBeGreaterThan(100);
    expect(samples).toBeGreaterThan(3);
    expect(await brokenAccounts(testDatabase.database, tenants)).toEqual([]);
    for (const { tenantId } of tenants) {
      expect(await snapshot(testDatabase.database, tenantId)).toMatchObject({ held: 0, holds: 0 });
    }
    await other.close();
  });
});

describe('throughput', () => {
  it('is printed', async () => {
    const tenants = await Promise.all(
      Array.from({ length: 20 }, () => createTenant(testDatabase.database, 1e9)),
    );
    const requests = 2_000;
    let left = requests;
    const usage = process.cpuUsage();
    const startMs = performance.now();
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const tenant = tenants[index % tenants.length]!;
        while (left-- > 0) {
          const operation = holdOperation(tenant, 100);
          await ledger.store.hold(operation);
          await ledger.store.settle(settleOperation(tenant, operation.requestId, 60));
        }
      }),
    );
    const seconds = (performance.now() - startMs) / 1_000;
    const { user, system } = process.cpuUsage(usage);
    process.stdout.write(
      `ledger: ${Math.round((2 * requests) / seconds)} operations/s, ` +
        `${((user + system) / (2 * requests)).toFixed(1)} µs of Node each\n`,
    );
    expect(await brokenAccounts(testDatabase.database, tenants)).toEqual([]);
  });
});

/** Returns integers from 0 to below `limit`, the same in every run. */
function seededRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
