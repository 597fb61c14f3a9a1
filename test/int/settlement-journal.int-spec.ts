import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Logger } from '@nestjs/common';
import { COMMAND_AUTHOR } from '../../src/core/access/author.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import type { SettlementRecord } from '../../src/core/ledger/ledger-operations.js';
import { SettlementJournal } from '../../src/core/ledger/settlement-journal.js';
import {
  brokenAccounts,
  connectLedger,
  createTenant,
  holdOperation,
  logDraft,
  settleOperation,
  snapshot,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { DueWork } from '../../src/platform/database/due-work.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const smallDisk = mkdtempSync(join(tmpdir(), 'gateway-small-disk-'));
/** Mounting a small disk requires privileges. */
const itWithSmallDisk = mountSmallDisk() ? it : it.skip;

function mountSmallDisk(): boolean {
  const parameters = ['-t', 'tmpfs', '-o', 'size=5m', 'tmpfs', smallDisk];
  return spawnSync('mount', parameters, { stdio: 'ignore' }).status === 0;
}

const RECORD: SettlementRecord = {
  name: 'write-conversation',
  text: 'INSERT INTO conversations VALUES ($1)',
  values: ['what was said'],
};

describe('settlements that cannot be committed before the process ends', () => {
  let own: TestDatabase;
  let proxy: TcpProxy;
  /** The process that ends, and one that continues. */
  let ending: TestLedger;
  let living: TestLedger;
  let tenant: TestTenant;
  let logged: string[];
  const stderr = jest.spyOn(process.stderr, 'write');

  beforeAll(async () => {
    Logger.overrideLogger(false);
    own = await createTestDatabase();
    living = await connectLedger(own.url);
  });
  beforeEach(async () => {
    logged = [];
    stderr.mockImplementation((line) => logged.push(String(line)) > 0);
    proxy = await TcpProxy.before(own.url);
    ending = await connectLedger(proxy.inFrontOf(own.url));
    tenant = await createTenant(own.database, 1_000);
  });
  afterEach(async () => {
    expect(await brokenAccounts(own.database, [tenant])).toEqual([]);
    await proxy.cut();
    await ending.close();
    stderr.mockReset();
  });
  afterAll(async () => {
    await living.close();
    await own.drop();
    spawnSync('umount', [smallDisk], { stdio: 'ignore' });
    rmSync(smallDisk, { recursive: true });
  });

  const account = () => snapshot(own.database, tenant.tenantId);

  const outcomes = async (): Promise<[string, number][]> => {
    const { rows } = await own.database.query<{ outcome: string; cost: number }>(
      'SELECT outcome, cost FROM request_logs WHERE tenant_id = $1 ORDER BY cost',
      [tenant.tenantId],
    );
    return rows.map(({ outcome, cost }) => [outcome, cost]);
  };

  /** Audit log rows of a journal, by any actor. */
  const audited = async (path: string): Promise<unknown[]> => {
    const { rows } = await own.database.query<{ row: unknown }>(
      `SELECT json_build_array(actor_kind, tenant_id, after) AS row FROM audit_log
       WHERE action = 'settlements.recover' AND target_id = $1 ORDER BY id`,
      [basename(path)],
    );
    return rows.map(({ row }) => row);
  };

  const hold = async (amount = 100): Promise<string> => {
    const operation = holdOperation(tenant, amount);
    await ending.store.hold(operation);
    return operation.requestId;
  };

  /** Charges 1, 2, 3 … credits that are never committed. @returns the journal's path */
  const endWith = async (count: number): Promise<string> => {
    const requestIds = await Promise.all(Array.from({ length: count }, () => hold()));
    proxy.silence();
    requestIds.forEach((requestId, index) => {
      void ending.store.settle({
        ...settleOperation(tenant, requestId, index + 1),
        record: RECORD,
      });
    });
    // The first transaction has started by now.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(ending.store.journalPending()).toBe(count);
    const [path] = ending.journal.list();
    return path!;
  };

  it('are journaled once, in a private file, and reported in one line', async () => {
    const path = await endWith(3);
    expect(ending.store.journalPending()).toBe(3);
    expect(ending.journal.list()).toEqual([path]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(ending.journal.folder).mode & 0o777).toBe(0o700);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(/^3 settlements could not be written [^\n]*\n$/);
    expect(logged[0]).toContain(`npm run gateway -- settle ${path}`);
    expect(ending.fates).toEqual({ journalled: 3, lost: 0 });
    expect(readFileSync(path, 'utf8')).not.toMatch(/conversation|what was said/);
  });

  it('are booked by the next process, which releases their holds', async () => {
    const path = await endWith(3);
    const before = living.fates.recovered ?? 0;
    expect(await living.recovery.recover(path, COMMAND_AUTHOR)).toEqual({
      booked: 3,
      known: 0,
      refused: 0,
      damagedLines: [],
      path: undefined,
    });
    expect(existsSync(path)).toBe(false);
    expect(await audited(path)).toEqual([['command', null, { booked: 3, known: 0, refused: 0 }]]);
    expect((living.fates.recovered ?? 0) - before).toBe(3);
    expect(await account()).toMatchObject({ balance: 994, held: 0, spent: 6, requests: 3 });
    expect(await outcomes()).toEqual([1, 2, 3].map((cost) => ['completed', cost]));
  });

  it('are booked once, even concurrently and repeatedly', async () => {
    const path = await endWith(20);
    const copies = [1, 2, 3].map((number) => `${path}.copy-${number}`);
    for (const copy of copies) copyFileSync(path, copy);
    const third = await connectLedger(own.url);
    const recovered = await Promise.all([
      living.recovery.recover(copies[0]!, COMMAND_AUTHOR),
      third.recovery.recover(copies[1]!, COMMAND_AUTHOR),
      living.recovery.recover(path, COMMAND_AUTHOR),
    ]);
    await third.close();
    expect(recovered.reduce((sum, { booked }) => sum + booked, 0)).toBe(20);
    expect(recovered.reduce((sum, { known }) => sum + known, 0)).toBe(40);
    expect(await living.recovery.recover(copies[2]!, COMMAND_AUTHOR)).toMatchObject({
      booked: 0,
      known: 20,
    });
    expect(await account()).toMatchObject({ balance: 790, held: 0, spent: 210, requests: 20 });
  });

  it("replace the sweeper's rows and charge the recorded cost", async () => {
    const path = await endWith(3);
    const sweeper = new HoldSweeperService(
      living.database,
      living.instance,
      new DueWork(living.database),
    );
    await sweeper.sweepNow({ assumeOthersDead: true });
    expect(await outcomes()).toEqual([1, 2, 3].map(() => ['crashed', 0]));
    expect(await account()).toMatchObject({ balance: 1_000, held: 0 });
    expect(await living.recovery.recover(path, COMMAND_AUTHOR)).toMatchObject({ booked: 3 });
    expect(await account()).toMatchObject({ balance: 994, held: 0, spent: 6, requests: 3 });
    expect(await outcomes()).toEqual([1, 2, 3].map((cost) => ['completed', cost]));
  });

  it('are booked with every journal of the data folder, by a start or a command', async () => {
    const path = await endWith(2);
    const { folder } = living.journal;
    mkdirSync(folder, { recursive: true });
    const [one, two] = ['one.jsonl', 'two.jsonl'].map((name) => join(folder, name));
    for (const copy of [one!, two!]) copyFileSync(path, copy);
    const torn = join(folder, 'torn.jsonl');
    appendFileSync(torn, 'torn');
    const reports = [];
    for await (const report of living.recovery.recoverAll(COMMAND_AUTHOR)) reports.push(report);
    expect(reports.map(({ booked }) => booked)).toEqual([2, 0, 0]);
    expect(reports.flatMap(({ problems }) => problems)).toEqual([
      `${torn} has unreadable lines, which are not booked: 1`,
    ]);
    expect(living.journal.list()).toEqual([torn]);
    utimesSync(torn, new Date(), new Date(Date.now() - 60_000));
    await living.recovery.recoverAtStart();
    expect(living.journal.list()).toEqual([]);
    expect(await audited(one!)).toEqual([['command', null, { booked: 2, known: 0, refused: 0 }]]);
    expect(await audited(two!)).toEqual([['command', null, { booked: 0, known: 2, refused: 0 }]]);
    expect(await audited(torn)).toEqual([]);
    expect(await account()).toMatchObject({ balance: 997, requests: 2 });
  });

  it('become a shortfall when the tenant has spent its credits since', async () => {
    const path = await endWith(1);
    const sweeper = new HoldSweeperService(
      living.database,
      living.instance,
      new DueWork(living.database),
    );
    await sweeper.sweepNow({ assumeOthersDead: true });
    const other = holdOperation(tenant, 1_000);
    await living.store.hold(other);
    await living.store.settle(settleOperation(tenant, other.requestId, 1_000));
    expect(await living.recovery.recover(path, COMMAND_AUTHOR)).toMatchObject({ booked: 1 });
    expect(await account()).toMatchObject({ balance: 0, entries: 0, spent: 1_000 });
    const { rows } = await own.database.query(
      "SELECT kind, amount FROM ledger_entries WHERE tenant_id = $1 AND kind <> 'grant' ORDER BY 2",
      [tenant.tenantId],
    );
    expect(rows).toEqual([
      { kind: 'charge', amount: -1_000 },
      { kind: 'charge', amount: -1 },
      { kind: 'shortfall', amount: 1 },
    ]);
  });

  it('are not charged again when their commit succeeded', async () => {
    // Creates the account's month, which the quick statement cannot.
    await ending.store.settle(settleOperation(tenant, await hold(), 0));
    const requestId = await hold();
    proxy.loseNextReplyTo('ledger-quick', { thenCut: true });
    void ending.store.settle(settleOperation(tenant, requestId, 7));
    await until(async () => (await outcomes()).length === 2);
    ending.store.journalPending();
    const [path] = ending.journal.list();
    expect(await living.recovery.recover(path!, COMMAND_AUTHOR)).toMatchObject({
      booked: 0,
      known: 1,
    });
    expect(await account()).toMatchObject({ balance: 993, spent: 7, requests: 2 });
  });

  it('include rejected requests, but not the end of work that continues', async () => {
    const requestId = await hold();
    proxy.silence();
    void ending.store.record(
      logDraft(tenant, holdOperation(tenant, 1).requestId, { outcome: 'refused' }),
    );
    void ending.store.settle({
      ...settleOperation(tenant, requestId, 7),
      record: { ...RECORD, required: true },
    });
    expect(ending.store.journalPending()).toBe(1);
    expect(await living.recovery.recover(ending.journal.list()[0]!, COMMAND_AUTHOR)).toMatchObject({
      booked: 1,
    });
    expect(await outcomes()).toEqual([['refused', 0]]);
    expect(await account()).toMatchObject({ balance: 1_000, held: 100, requests: 1 });
  });

  it('are booked if readable, and damaged lines are reported', async () => {
    const path = await endWith(3);
    const lines = readFileSync(path, 'utf8').split('\n');
    const torn = join(ending.journal.folder, 'torn.jsonl');
    appendFileSync(torn, `${lines[0]}\n${lines[1]}\n${lines[2]!.slice(0, 100)}`);
    // Another process may still be writing it.
    expect(await living.recovery.recover(torn, COMMAND_AUTHOR)).toMatchObject({
      booked: 2,
      damagedLines: [3],
      path: torn,
    });
    utimesSync(torn, new Date(), new Date(Date.now() - 60_000));
    expect(await living.recovery.recover(torn, COMMAND_AUTHOR)).toMatchObject({
      booked: 0,
      known: 2,
      damagedLines: [3],
      path: `${torn}.damaged`,
    });
    expect(existsSync(torn)).toBe(false);
    expect(await account()).toMatchObject({ balance: 997, requests: 2 });
    await living.recovery.recover(path, COMMAND_AUTHOR);
    expect(await account()).toMatchObject({ balance: 994, requests: 3 });
  });

  it('are not booked in another database', async () => {
    const path = await endWith(2);
    const foreign = await createTestDatabase();
    const elsewhere = await connectLedger(foreign.url);
    expect(await elsewhere.recovery.recover(path, COMMAND_AUTHOR)).toMatchObject({
      refused: 2,
      path,
    });
    for (const table of ['request_logs', 'audit_log']) {
      const { rows } = await foreign.database.query(`SELECT FROM ${table}`);
      expect(rows).toEqual([]);
    }
    await elsewhere.close();
    await foreign.drop();
    expect(await living.recovery.recover(path, COMMAND_AUTHOR)).toMatchObject({ booked: 2 });
  });

  itWithSmallDisk('are journaled on a full disk, in reserved space', async () => {
    const journal = new SettlementJournal(
      { dataDirectory: smallDisk },
      { observeSettlements: () => undefined },
    );
    journal.reserve();
    expect(() => appendFileSync(join(smallDisk, 'filler'), Buffer.alloc(8e6))).toThrow('ENOSPC');
    const settlements = Array.from({ length: 1_000 }, () => {
      const { charge, log } = settleOperation(tenant, randomUUID(), 7);
      return { charge, log, hadHold: true };
    });
    journal.write('full', settlements);
    const [path] = journal.list();
    expect(statSync(path!).mode & 0o777).toBe(0o600);
    expect(journal.read(path!)).toMatchObject({ damagedLines: [], isComplete: true });
    expect(journal.read(path!).settlements).toHaveLength(1_000);
  });

  it('are reported as lost when the data folder is not writable', async () => {
    const requestId = await hold();
    proxy.silence();
    appendFileSync(join(ending.journal.folder, '..'), 'a file in place of the folder');
    void ending.store.settle(settleOperation(tenant, requestId, 7));
    expect(ending.store.journalPending()).toBe(1);
    expect(logged.join('')).toMatch(
      /^1 settlements lost: neither the database nor .* accepted them\n$/,
    );
    expect(ending.fates).toEqual({ journalled: 0, lost: 1 });
  });
});
