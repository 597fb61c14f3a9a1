import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { SettlementRecord } from '../../src/core/ledger/ledger-operations.js';
import {
  brokenAccounts,
  connectLedger,
  createTenant,
  holdOperation,
  settleOperation,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('a record written with a settlement', () => {
  let own: TestDatabase;
  let ledger: TestLedger;
  let tenant: TestTenant;

  beforeAll(async () => {
    own = await createTestDatabase();
    ledger = await connectLedger(own.url);
    tenant = await createTenant(own.database, 1_000_000);
    await own.database.query('CREATE TABLE notes (name text PRIMARY KEY, body text)');
  });
  afterAll(async () => {
    expect(await brokenAccounts(own.database, [tenant])).toEqual([]);
    await ledger.close();
    await own.drop();
  });

  const note = (name: string, body: string | number = 'x'): SettlementRecord => ({
    name: 'write-note',
    text: 'INSERT INTO notes (name, body) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    values: [name, body],
  });

  const notes = async (): Promise<string[]> =>
    (await own.database.query<{ name: string }>('SELECT name FROM notes ORDER BY name')).rows.map(
      ({ name }) => name,
    );

  const held = async (): Promise<string> => {
    const operation = holdOperation(tenant, 100);
    await ledger.store.hold(operation);
    return operation.requestId;
  };

  it('exists when the settlement does', async () => {
    const requestId = await held();
    const settlement = settleOperation(tenant, requestId, 10);
    const outcome = await ledger.store.settle({ ...settlement, record: note('first') });
    expect(outcome).toEqual({ cost: 10, shortfall: 0, applied: true, recorded: true });
    expect(await notes()).toEqual(['first']);
  });

  it('is not written for a request that was settled before', async () => {
    const requestId = await held();
    await ledger.store.settle(settleOperation(tenant, requestId, 10));
    const outcome = await ledger.store.settle({
      ...settleOperation(tenant, requestId, 10),
      record: note('late'),
    });
    expect(outcome).toMatchObject({ applied: false, recorded: false });
    expect(await notes()).not.toContain('late');
  });

  it('stops neither its own settlement nor others when it cannot be stored', async () => {
    const requestIds = await Promise.all(Array.from({ length: 20 }, held));
    const outcomes = await Promise.all(
      requestIds.map((requestId, index) =>
        ledger.store.settle({
          ...settleOperation(tenant, requestId, 7),
          record: index === 13 ? note('bad', 'NUL \u0000') : note(`good ${index}`),
        }),
      ),
    );
    expect(outcomes.map(({ cost, applied }) => [cost, applied])).toEqual(
      Array.from({ length: 20 }, () => [7, true]),
    );
    expect(outcomes.filter(({ recorded }) => recorded)).toHaveLength(19);
    expect(outcomes[13]).toMatchObject({ recorded: false });
    expect((await notes()).filter((name) => name.startsWith('good'))).toHaveLength(19);
    expect(await notes()).not.toContain('bad');
  });

  it('delays only its own tenant when it takes long to write', async () => {
    const other = await createTenant(own.database, 1_000);
    const requestIds = await Promise.all([held(), held()]);
    const order: string[] = [];
    const gate = new pg.Client({ connectionString: own.url });
    await gate.connect();
    // Without a transaction, which would delay the roll-ups of other suites.
    await gate.query('SELECT pg_advisory_lock(1), pg_advisory_lock(2)');
    const settleSlowly = async (requestId: string, lock: number): Promise<void> => {
      const record: SettlementRecord = {
        name: 'write-note-slowly',
        text: `INSERT INTO notes (name, body)
          SELECT $1, $2 FROM (SELECT pg_advisory_xact_lock($3::int)) AS opened`,
        values: [requestId, 'x'.repeat(300_000), lock],
      };
      const operation = settleOperation(tenant, requestId, 5);
      expect(await ledger.store.settle({ ...operation, record })).toMatchObject({ recorded: true });
      order.push('slow');
    };
    const quick = async (): Promise<void> => {
      const operation = holdOperation(other, 10);
      expect(await ledger.store.hold(operation)).toEqual({ admitted: true });
      await ledger.store.settle(settleOperation(other, operation.requestId, 7));
      order.push('quick');
    };
    const first = settleSlowly(requestIds[0], 1);
    await quick();
    const second = settleSlowly(requestIds[1], 2);
    await gate.query('SELECT pg_advisory_unlock(1)');
    await first;
    // While the second is written, the account of its tenant is locked.
    const again = ledger.store.settle(settleOperation(tenant, requestIds[0], 5));
    await quick();
    await gate.end();
    await Promise.all([second, again]);
    expect(order).toEqual(['quick', 'slow', 'quick', 'slow']);
    await ledger.store.settle(settleOperation(tenant, await held(), 3));
    expect(await brokenAccounts(own.database, [other])).toEqual([]);
  });

  it('leaves settlements without one unchanged', async () => {
    const outcome = await ledger.store.settle(settleOperation(tenant, await held(), 3));
    expect(outcome).toEqual({ cost: 3, shortfall: 0, applied: true });
  });
});
