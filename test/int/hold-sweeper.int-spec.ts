import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConsoleLogger, Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import pg from 'pg';
import { DatabaseModule } from '../../src/platform/database/database.module.js';
import { MetricsModule } from '../../src/platform/metrics/metrics.module.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import { InstanceService } from '../../src/core/ledger/instance.service.js';
import { LedgerStore } from '../../src/core/ledger/ledger-store.js';
import { SettlementJournal } from '../../src/core/ledger/settlement-journal.js';
import {
  brokenAccounts,
  connectLedger,
  createTenant,
  coverOperation,
  holdOperation,
  logRowOf,
  settleOperation,
  snapshot,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { DueWork } from '../../src/platform/database/due-work.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
/** The process whose holds are swept, and the one that sweeps. */
let dying: TestLedger;
let living: TestLedger;
let sweeper: HoldSweeperService;
let tenant: TestTenant;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
});

afterAll(async () => {
  await testDatabase.drop();
});

beforeEach(async () => {
  await testDatabase.database.query('DELETE FROM holds');
  await testDatabase.database.query('DELETE FROM instances');
  [dying, living] = await Promise.all([
    connectLedger(testDatabase.url),
    connectLedger(testDatabase.url),
  ]);
  await dying.instance.beat();
  await living.instance.beat();
  sweeper = new HoldSweeperService(living.database, living.instance, new DueWork(living.database));
  tenant = await createTenant(testDatabase.database, 1_000);
});

afterEach(async () => {
  await Promise.all([dying.close(), living.close()]);
});

/** Makes an instance's last heartbeat this many seconds old. */
async function silence(instance: InstanceService, seconds: number): Promise<void> {
  await testDatabase.database.query(
    'UPDATE instances SET heartbeat_at = now() - make_interval(secs => $2) WHERE id = $1',
    [instance.id, seconds],
  );
}

async function instanceIds(): Promise<string[]> {
  const { rows } = await testDatabase.database.query<{ id: string }>('SELECT id FROM instances');
  return rows.map(({ id }) => id);
}

async function account() {
  return snapshot(testDatabase.database, tenant.tenantId);
}

const logRow = (requestId: string) => logRowOf(testDatabase.database, requestId);

const sweep = () => sweeper.sweepNow({ assumeOthersDead: false });

describe('HoldSweeperService.sweepNow', () => {
  it('releases the holds of an instance without heartbeat and logs them as crashed', async () => {
    const createdAt = new Date(Date.now() - 45_000);
    const operations = [100, 250].map((amount) =>
      holdOperation(tenant, amount, { createdAt, streamed: true, model: 'back\\slash' }),
    );
    for (const operation of operations) await dying.store.hold(operation);
    await silence(dying.instance, 21);

    expect(await sweep()).toBe(2);
    expect(await account()).toEqual({
      balance: 1_000,
      held: 0,
      holds: 0,
      spent: 0,
      requests: 2,
      entries: 1_000,
      logged: { rows: 2, cost: 0 },
    });
    const row = (await logRow(operations[0]!.requestId))!;
    expect(row).toMatchObject({
      tenant_id: tenant.tenantId,
      api_key_id: tenant.apiKeyId,
      model: 'back\\\\slash',
      status: 'error',
      outcome: 'crashed',
      error_type: 'internal_error',
      prompt_tokens: 0,
      completion_tokens: 0,
      usage_source: 'none',
      cost: 0,
      streamed: true,
      created_at: createdAt,
    });
    expect(row.latency_ms).toBeGreaterThanOrEqual(45_000);
    expect(row.latency_ms).toBeLessThan(165_000);
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
    expect(await instanceIds()).toEqual([living.instance.id]);
  });

  it('releases the holds of an unknown instance', async () => {
    await dying.store.hold(holdOperation(tenant, 100));
    await testDatabase.database.query('DELETE FROM instances WHERE id = $1', [dying.instance.id]);
    expect(await sweep()).toBe(1);
    expect(await account()).toMatchObject({ held: 0, holds: 0 });
  });

  it('leaves the holds of living instances and its own', async () => {
    await dying.store.hold(holdOperation(tenant, 100));
    await living.store.hold(holdOperation(tenant, 200));
    await silence(dying.instance, 18);
    await silence(living.instance, 60);
    expect(await sweep()).toBe(0);
    expect(await account()).toMatchObject({ held: 300, holds: 300, requests: 0 });
    expect(await instanceIds()).toHaveLength(2);
  });

  it('treats all others as dead when none can be alive', async () => {
    await dying.store.hold(holdOperation(tenant, 100));
    await living.store.hold(holdOperation(tenant, 200));
    expect(await sweeper.sweepNow({ assumeOthersDead: true })).toBe(1);
    expect(await account()).toMatchObject({ held: 200, holds: 200 });
    expect(await instanceIds()).toEqual([living.instance.id]);
  });

  it('is not delayed by a tenant with a locked account', async () => {
    const other = await createTenant(testDatabase.database, 100);
    for (const owner of [tenant, other]) await dying.store.hold(holdOperation(owner, 5));
    await silence(dying.instance, 25);
    const blocker = new pg.Client({ connectionString: testDatabase.url });
    await blocker.connect();
    try {
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM accounts WHERE tenant_id = $1 FOR UPDATE', [
        tenant.tenantId,
      ]);
      await expect(sweep()).rejects.toMatchObject({ code: '55P03' });
      expect((await snapshot(testDatabase.database, other.tenantId)).held).toBe(0);
      expect((await account()).held).toBe(5);
    } finally {
      await blocker.end();
    }
    expect(await sweep()).toBe(1);
    expect((await account()).held).toBe(0);
  });

  it('releases every hold once when several instances sweep at the same time', async () => {
    const tenants = await Promise.all(
      Array.from({ length: 12 }, () => createTenant(testDatabase.database, 100)),
    );
    await Promise.all(
      Array.from({ length: 240 }, (_, index) =>
        dying.store.hold(holdOperation(tenants[index % 12]!, 5)),
      ),
    );
    await silence(dying.instance, 25);
    const third = await connectLedger(testDatabase.url);
    await third.instance.beat();
    const other = new HoldSweeperService(
      third.database,
      third.instance,
      new DueWork(third.database),
    );
    const released = await Promise.all([
      sweep(),
      other.sweepNow({ assumeOthersDead: false }),
      sweep(),
      other.sweepNow({ assumeOthersDead: false }),
    ]);
    expect(released.reduce((sum, count) => sum + count, 0)).toBe(240);
    expect(await brokenAccounts(testDatabase.database, tenants)).toEqual([]);
    await third.close();
  });

  it('may run while the swept instance is still settling', async () => {
    const operations = Array.from({ length: 200 }, () => holdOperation(tenant, 5));
    await Promise.all(operations.map((operation) => dying.store.hold(operation)));
    await silence(dying.instance, 25);
    const [outcomes] = await Promise.all([
      Promise.all(
        operations.map(({ requestId }) =>
          dying.store.settle(settleOperation(tenant, requestId, 3)),
        ),
      ),
      sweep(),
      sweep(),
    ]);
    expect(outcomes.every((outcome) => outcome.applied && outcome.cost === 3)).toBe(true);
    expect(await account()).toMatchObject({ balance: 400, held: 0, spent: 600, requests: 200 });
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
  });
});

describe('a request that was swept as crashed', () => {
  it('is charged from the available credits when it ends after all, and counted once', async () => {
    const operation = holdOperation(tenant, 600);
    await dying.store.hold(operation);
    await silence(dying.instance, 25);
    await sweep();
    await living.store.hold(holdOperation(tenant, 900));

    const settlement = settleOperation(tenant, operation.requestId, 130, {
      model: 'anthropic/claude',
      latencyMs: 31_000,
    });
    expect(await dying.store.settle(settlement)).toEqual({
      cost: 100,
      shortfall: 30,
      applied: true,
    });
    expect(await logRow(operation.requestId)).toMatchObject({
      status: 'success',
      outcome: 'completed',
      error_type: null,
      model: 'anthropic/claude',
      cost: 100,
      shortfall: 30,
      latency_ms: 31_000,
    });
    expect(await dying.store.settle(settlement)).toEqual({
      cost: 100,
      shortfall: 30,
      applied: false,
    });
    expect(await account()).toMatchObject({ balance: 900, held: 900, requests: 1, spent: 100 });
    expect(await brokenAccounts(testDatabase.database, [tenant])).toEqual([]);
  });

  it('cannot be covered', async () => {
    const operation = holdOperation(tenant, 600);
    await dying.store.hold(operation);
    await silence(dying.instance, 25);
    await sweep();
    expect(await dying.store.cover(coverOperation(operation, 10))).toBeUndefined();
    expect(await account()).toMatchObject({ held: 0, holds: 0 });
  });
});

describe('InstanceService', () => {
  it('registers again after it was considered dead', async () => {
    await silence(dying.instance, 25);
    await sweep();
    expect(await instanceIds()).not.toContain(dying.instance.id);
    await dying.instance.beat();
    expect(await instanceIds()).toContain(dying.instance.id);
  });

  it('is listed while its application runs, and removed once everything is settled', async () => {
    const module = await Test.createTestingModule({
      imports: [DatabaseModule.forRoot(testDatabase.url), MetricsModule],
      providers: [
        InstanceService,
        LedgerStore,
        HoldSweeperService,
        { provide: SettlementJournal, useValue: living.journal },
      ],
    })
      .setLogger(new ConsoleLogger({ logLevels: [] }))
      .compile();
    await module.init();
    const { id } = module.get(InstanceService);
    expect(await instanceIds()).toContain(id);

    const store = module.get(LedgerStore);
    const operation = holdOperation(tenant, 10);
    await store.hold(operation);
    const settlement = store.settle(settleOperation(tenant, operation.requestId, 4));
    await module.close();
    expect(await settlement).toMatchObject({ applied: true });
    expect(await instanceIds()).not.toContain(id);
  });
});
