import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { CoarseTimer } from '../../src/platform/time/coarse-timer.js';
import { HoldEntry, SettleEntry, type LedgerGroup } from '../../src/core/ledger/ledger-entry.js';
import { flushGroup } from '../../src/core/ledger/ledger-flush.js';
import type { CreditRange } from '../../src/core/ledger/ledger-operations.js';
import { quickFlush } from '../../src/core/ledger/quick-flush.js';
import { withConnection } from '../../src/core/ledger/statement-runner.js';
import {
  brokenAccounts,
  connectLedger,
  createTenant,
  holdOperation,
  settleOperation,
  snapshot,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { SeededRandom } from '../support/seeded-random.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let ledger: TestLedger;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  ledger = await connectLedger(testDatabase.url);
});

afterAll(async () => {
  await ledger.close();
  await testDatabase.drop();
});

interface HoldRequest {
  amount: number;
  range?: CreditRange;
}

/** One group: the tenants' holds in order, and requests that end in it. */
async function flush(
  way: (client: PoolClient, instanceId: string, group: LedgerGroup) => Promise<unknown>,
  asks: readonly [TestTenant, HoldRequest][],
  endings: SettleEntry[] = [],
): Promise<{ result: unknown; granted: (number | undefined)[] }> {
  const timer = new CoarseTimer();
  const entries = asks.map(
    ([tenant, options]) => new HoldEntry(holdOperation(tenant, options.amount, options), timer),
  );
  let result: unknown;
  await withConnection(ledger.database.ledgerPool, async (client) => {
    result = await way(client, ledger.instance.id, { endings, reservations: entries });
  });
  const granted = entries.map((entry) => {
    entry.outcome ??= { admitted: false, available: 0 };
    entry.succeed();
    return entry.outcome.admitted ? (entry.outcome.granted ?? entry.operation.amount) : undefined;
  });
  return { result, granted };
}

const wide = (amount: number, most: number, base = 0): HoldRequest => ({
  amount,
  range: { most, base },
});

describe('a hold of open length', () => {
  it.each([
    [
      'its maximum when that is within a 32nd of the available credits',
      32_000,
      wide(10, 1_000),
      1_000,
    ],
    ['a 32nd of the available credits', 3_200, wide(10, 1_000), 100],
    ['… rounded down', 3_231, wide(10, 1_000), 100],
    ['… plus the part that is not for output', 3_200, wide(60, 1_000, 50), 150],
    ['its minimum when a 32nd is less', 3_200, wide(400, 1_000), 400],
    [
      'everything available, and no more, when the prompt needs nearly all',
      1_000,
      wide(990, 5_000, 980),
      1_000,
    ],
    ['its minimum when there is not a credit more', 400, wide(400, 1_000), 400],
  ])('gets %s', async (_, credits, request, expected) => {
    for (const way of [quickFlush, flushGroup]) {
      const tenant = await createTenant(testDatabase.database, credits);
      const { granted } = await flush(way, [[tenant, request]]);
      expect(granted).toEqual([expected]);
      expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
        held: expected,
        holds: expected,
      });
    }
  });

  it('takes the slow path when the minimum does not fit', async () => {
    const tenant = await createTenant(testDatabase.database, 399);
    expect((await flush(quickFlush, [[tenant, wide(400, 1_000)]])).result).toBe(false);
    expect((await flush(flushGroup, [[tenant, wide(400, 1_000)]])).granted).toEqual([undefined]);
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({ held: 0 });
  });

  it('gets the same in one statement and in several, in order of arrival', async () => {
    const random = new SeededRandom(18);
    const kinds = Array.from({ length: 60 }, (): HoldRequest => {
      const base = random.below(50);
      const amount = base + random.below(200);
      return random.below(4) === 0 ? { amount } : wide(amount, amount + random.below(3_000), base);
    });
    const sides = await Promise.all(
      [quickFlush, flushGroup].map(async (way) => {
        const tenants = [
          await createTenant(testDatabase.database, 60_000),
          await createTenant(testDatabase.database, 900_000),
        ];
        // Holds that end in the same group release their credits before the others are decided.
        const ending = holdOperation(tenants[0]!, 9_000);
        const store = ledger.store;
        await store.hold(ending);
        const { charge, log } = settleOperation(tenants[0]!, ending.requestId, 1_234);
        const settlement = new SettleEntry(log, charge, true);
        const asks = kinds.map((kind, index): [TestTenant, HoldRequest] => [
          tenants[index % 2]!,
          kind,
        ]);
        const flushed = await flush(way, asks, [settlement]);
        const states = await Promise.all(
          tenants.map(({ tenantId }) => snapshot(testDatabase.database, tenantId)),
        );
        expect(await brokenAccounts(testDatabase.database, tenants)).toEqual([]);
        return { ...flushed, states };
      }),
    );
    const [quick, long] = sides;
    expect(quick!.result).toBe(true);
    expect(quick!.granted).toEqual(long!.granted);
    expect(quick!.states).toEqual(long!.states);
    expect(new Set(quick!.granted).size).toBeGreaterThan(30);
  });
});
