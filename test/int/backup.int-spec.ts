import 'reflect-metadata';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { MIGRATIONS } from '../../src/platform/database/migrations.js';
import { findBookFaults, readBookFigures } from '../../src/core/ledger/books.js';
import { HoldSweeperService } from '../../src/core/ledger/hold-sweeper.service.js';
import { DueWork } from '../../src/platform/database/due-work.js';
import { migrateDatabase } from '../../src/platform/database/migrate-database.js';
import {
  connectLedger,
  createTenant,
  holdOperation,
  settleOperation,
  type TestTenant,
} from '../support/ledger-factories.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const SECRET = 's'.repeat(40);
/** Contains everything that PostgreSQL's text format has to escape. */
const ODD_NAME = 'tab\t line\n back\\slash \\N \\. "quoted" é🙂';

/** Tables that the restore changes: it closes existing sessions. */
const CHANGED = ['instances', 'audit_log', 'sessions'];

describe('a backup', () => {
  let folder: string;
  let source: TestDatabase;
  let tenant: TestTenant;
  const targets: TestDatabase[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    folder = await mkdtemp(join(tmpdir(), 'gateway-backup-'));
    source = await createTestDatabase();
    tenant = await createTenant(source.database, 1_000_000);
    await source.database.query('UPDATE tenants SET name = $1', [ODD_NAME]);
  });
  afterEach(async () => {
    for (const target of targets.splice(0)) await target.drop();
  });
  afterAll(async () => {
    await source.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const makeTarget = async (options?: { migrate: boolean }): Promise<TestDatabase> => {
    const target = await createTestDatabase(options ?? { migrate: false });
    targets.push(target);
    return target;
  };
  const run = (database: TestDatabase, ...words: string[]) => {
    const environment = { DATABASE_URL: database.url, GATEWAY_DATA_DIR: folder };
    return runOperatorCommand({ GATEWAY_SECRET: SECRET, ...environment }, ...words);
  };
  const backUp = async (name = 'backup'): Promise<string> => {
    const file = join(folder, name);
    expect(await run(source, 'backup', file)).toMatchObject({ code: 0, errors: '' });
    return file;
  };
  const idsIn = async ({ database }: TestDatabase, table: string): Promise<Set<string>> => {
    const { rows } = await database.query<{ id: string }>(`SELECT request_id AS id FROM ${table}`);
    return new Set(rows.map(({ id }) => id));
  };

  it('under load restores a consistent snapshot, to the last credit', async () => {
    const ledger = await connectLedger(source.url);
    await ledger.instance.beat();
    let isOver = false;
    let settled = 0;
    const work = async (): Promise<void> => {
      while (!isOver) {
        const hold = holdOperation(tenant, 50);
        await ledger.store.hold(hold);
        await ledger.store.settle(settleOperation(tenant, hold.requestId, 20 + (settled % 7)));
        settled++;
      }
    };
    const workers = Array.from({ length: 8 }, work);
    await until(() => settled > 50);
    const file = await backUp('under-load');
    const settledThen = settled;
    await until(() => settled > settledThen + 50);
    isOver = true;
    await Promise.all(workers);
    await ledger.close();

    const target = await makeTarget();
    const { code, output, errors } = await run(target, 'restore', file);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toContain('The books balance.');
    expect(await findBookFaults(target.database, { isLogWhole: true })).toEqual([]);
    expect(await findBookFaults(source.database, { isLogWhole: true })).toEqual([]);
    const figures = await readBookFigures(target.database);
    const { books } = headerOf(file);
    expect(figures).toEqual(books.figures);
    expect(figures.balance).toBe(figures.entries);
    expect(figures.held).toBe(figures.holds);

    // Later requests are missing completely: none has a row in one table only.
    const charged = await idsIn(target, 'ledger_entries WHERE request_id IS NOT NULL');
    const logged = await idsIn(target, 'request_logs');
    expect(charged).toEqual(logged);
    const everCharged = await idsIn(source, 'ledger_entries WHERE request_id IS NOT NULL');
    expect(everCharged.size).toBeGreaterThan(charged.size);
    expect([...charged].filter((id) => !everCharged.has(id))).toEqual([]);
    const differences = await source.database.query<{ request_id: string; amount: number }>(
      'SELECT request_id, amount FROM ledger_entries WHERE request_id = ANY($1)',
      [[...charged]],
    );
    const { rows } = await target.database.query(
      'SELECT request_id, amount FROM ledger_entries WHERE request_id IS NOT NULL',
    );
    expect(sorted(rows)).toEqual(sorted(differences.rows));
  });

  it('restores open holds, which are swept as crashed, except those of jobs', async () => {
    const ledger = await connectLedger(source.url);
    await ledger.instance.beat();
    const [open, job] = [holdOperation(tenant, 70), holdOperation(tenant, 30)];
    await ledger.store.hold(open);
    await ledger.store.hold(job);
    await source.database.query('UPDATE holds SET instance_id = NULL WHERE request_id = $1', [
      job.requestId,
    ]);
    const file = await backUp('open-holds');
    await ledger.store.settle(settleOperation(tenant, open.requestId, 60));
    await ledger.store.settle(settleOperation(tenant, job.requestId, 10));
    await ledger.close();

    const target = await makeTarget();
    const { output } = await run(target, 'restore', file);
    expect(output).toMatch(/2 requests and jobs were open/);
    const elsewhere = await connectLedger(target.url);
    await elsewhere.instance.beat();
    const sweeper = new HoldSweeperService(
      elsewhere.database,
      elsewhere.instance,
      new DueWork(elsewhere.database),
    );
    expect(await sweeper.sweepNow({ assumeOthersDead: false })).toBe(1);
    await elsewhere.close();
    const { rows } = await target.database.query(
      'SELECT outcome, cost FROM request_logs WHERE request_id = $1',
      [open.requestId],
    );
    expect(rows).toEqual([{ outcome: 'crashed', cost: 0 }]);
    expect(await idsIn(target, 'holds')).toEqual(new Set([job.requestId]));
    expect(await findBookFaults(target.database, { isLogWhole: true })).toEqual([]);
  });

  it('keeps every value of every table and the position of sequences', async () => {
    await source.database.query(
      `INSERT INTO webhook_secrets (tenant_id, sealed_secret) VALUES ($1, $2)`,
      [tenant.tenantId, Buffer.from([0, 1, 92, 10, 255])],
    );
    await source.database.query(
      `INSERT INTO sessions (token_hash, expires_at) VALUES ('a', now() + interval '1 day')`,
    );
    const file = await backUp('values');
    const target = await makeTarget();
    expect(await run(target, 'restore', file)).toMatchObject({ code: 0 });
    const tables = headerOf(file).tables.map(({ name }) => name);
    expect(tables.length).toBeGreaterThan(20);
    for (const table of tables.filter((name) => !CHANGED.includes(name))) {
      const statement = `SELECT row_to_json(t)::text AS row FROM "${table}" AS t ORDER BY 1`;
      const { rows } = await source.database.query(statement);
      expect({ table, rows: (await target.database.query(statement)).rows }).toEqual({
        table,
        rows,
      });
    }
    const open = await target.database.query('SELECT FROM sessions WHERE revoked_at IS NULL');
    expect(open.rows).toEqual([]);
    const audited = 'SELECT action FROM audit_log ORDER BY id';
    const { rows: before } = await source.database.query(audited);
    expect((await target.database.query(audited)).rows).toEqual([
      ...before,
      { action: 'database.restore' },
    ]);
    await createTenant(target.database, 5);
    expect(await findBookFaults(target.database, { isLogWhole: true })).toEqual([]);
  });

  it('is readable by its owner only, describes itself, and never contains the secret', async () => {
    const file = await backUp('header');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(headerOf(file)).toMatchObject({
      format: 1,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      createdAt: expect.stringMatching(/Z$/),
      secrets: [expect.stringMatching(/^[0-9a-f]{16}$/)],
    });
    expect(gunzipSync(readFileSync(file)).includes(SECRET)).toBe(false);
  });

  it('leaves no file when it fails', async () => {
    const before = readdirSync(folder);
    const { code, errors } = await runOperatorCommand(
      { DATABASE_URL: 'postgres://127.0.0.1:1/gateway' },
      ...['backup', join(folder, 'never')],
    );
    expect([code, errors]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
    const empty = await makeTarget();
    expect(await run(empty, 'backup', join(folder, 'never'))).toMatchObject({
      code: 1,
      errors:
        'There is nothing to back up: the service has not made its tables in this database.\n',
    });
    expect(readdirSync(folder)).toEqual(before);
  });

  it('that is interrupted leaves the previous file unchanged, and no other', async () => {
    const file = await backUp('kept');
    const [before, whole] = [readdirSync(folder), readFileSync(file)];
    const lock = await source.database.pool.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE webhook_secrets');
    const backup = run(source, 'backup', file);
    // It has created its file and waits for a table.
    await until(async () => {
      const { rows } = await source.database.query(
        `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
          WHERE application_name = 'model-gateway backup' AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    expect(await backup).toMatchObject({ code: 1, output: '' });
    await lock.query('ROLLBACK');
    lock.release();
    expect(readdirSync(folder)).toEqual(before);
    expect(readFileSync(file).equals(whole)).toBe(true);
  });

  it('includes the artifacts of the data folder, or says that it does not', async () => {
    const artifacts = join(folder, 'artifacts');
    mkdirSync(join(artifacts, 'ab'), { recursive: true });
    mkdirSync(join(artifacts, 'drafts'));
    const picture = randomBytes(100_000);
    // Finding the file of an id is up to the store.
    writeFileSync(join(artifacts, 'ab', 'img_1'), picture);
    writeFileSync(join(artifacts, 'drafts', 'half'), 'x');
    const file = join(folder, 'with-artifacts');
    const { output } = await run(source, 'backup', file);
    expect(output).toContain('Artifacts: 1 files of 100000 bytes.');
    const without = await run(source, 'backup', join(folder, 'without'), '--without-artifacts');
    expect(without.output).toContain('Artifacts were left out, as asked for');

    const elsewhere = join(folder, 'elsewhere');
    const target = await makeTarget();
    const restored = await runOperatorCommand(
      { DATABASE_URL: target.url, GATEWAY_SECRET: SECRET, GATEWAY_DATA_DIR: elsewhere },
      ...['restore', file],
    );
    expect(restored).toMatchObject({ code: 0, errors: '' });
    const [found] = readdirSync(join(elsewhere, 'artifacts'), {
      recursive: true,
      encoding: 'utf8',
    }).filter((path) => path.endsWith('img_1'));
    expect(readFileSync(join(elsewhere, 'artifacts', found!)).equals(picture)).toBe(true);
  });

  describe('is refused, and the target left unchanged,', () => {
    let target: TestDatabase;
    let file: string;
    const tenantsIn = async (): Promise<string[]> =>
      (await target.database.query<{ name: string }>('SELECT name FROM tenants')).rows.map(
        ({ name }) => name,
      );
    const schemas = async (): Promise<string[]> =>
      (
        await target.database.query<{ name: string }>(
          `SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'gateway%'`,
        )
      ).rows.map(({ name }) => name);
    const refused = async (path: string, ...flags: string[]): Promise<string> => {
      const names = await tenantsIn();
      const { code, output, errors } = await run(target, 'restore', path, ...flags);
      expect([code, output]).toEqual([1, '']);
      expect(errors.trimEnd().split('\n')).toHaveLength(1);
      expect(await tenantsIn()).toEqual(names);
      expect(await schemas()).toEqual([]);
      return errors;
    };

    const prepare = async (): Promise<void> => {
      target = await makeTarget({ migrate: true });
      await createTenant(target.database, 5);
      file = await backUp('to-refuse');
    };

    it('when the target has data or a running service; --replace overwrites data', async () => {
      await prepare();
      expect(await refused(file)).toContain('The database holds 1 tenants');
      const ledger = await connectLedger(target.url);
      await ledger.instance.beat();
      expect(await refused(file, '--replace')).toContain('1 instances of the service are at work');
      await target.database.query('DELETE FROM instances');
      await ledger.close();
      expect(await run(target, 'restore', file, '--replace')).toMatchObject({ code: 0 });
      expect(await tenantsIn()).toEqual([ODD_NAME]);
      expect(await schemas()).toEqual([]);
      // The tables are complete: the service can use them.
      expect(await run(target, 'tenant', 'create', 'next', '--credits', '5')).toMatchObject({
        code: 0,
      });
      expect(await findBookFaults(target.database, { isLogWhole: true })).toEqual([]);
    });

    it('when it is truncated, altered, or another file', async () => {
      await prepare();
      const bytes = readFileSync(file);
      const broken = join(folder, 'broken');
      writeFileSync(broken, bytes.subarray(0, bytes.length - 40));
      expect(await refused(broken, '--replace')).toContain('cut short');
      const tar = gunzipSync(bytes);
      const place = tar.indexOf('slash');
      tar.write('SLASH', place);
      writeFileSync(broken, gzipSync(tar));
      expect(await refused(broken, '--replace')).toContain('altered');
      writeFileSync(broken, 'something else');
      expect(await refused(broken, '--replace')).toContain('no backup of this service');
      expect(await refused(join(folder, 'not-there'), '--replace')).toContain('ENOENT');
    });

    it('when its schema is newer than the code', async () => {
      await prepare();
      const newer = join(folder, 'newer');
      const header = JSON.stringify(headerOf(file));
      writeFileSync(
        newer,
        changed(file, header, header.replace(/Foundation(?=\d)/, 'Foundation1')),
      );
      expect(await refused(newer, '--replace')).toMatch(
        /schema is newer .*restore it with version/,
      );
    });

    it('when it was made with another GATEWAY_SECRET, unless that is accepted', async () => {
      await prepare();
      const other = (...flags: string[]) =>
        runOperatorCommand(
          { DATABASE_URL: target.url, GATEWAY_SECRET: 'o'.repeat(40), GATEWAY_DATA_DIR: folder },
          ...['restore', file, '--replace', ...flags],
        );
      const { code, errors } = await other();
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/another GATEWAY_SECRET.*--other-secret/),
      ]);
      expect(await other('--other-secret')).toMatchObject({ code: 0 });
    });

    it('into a database of another application', async () => {
      await prepare();
      const foreign = await makeTarget();
      await foreign.database.query('CREATE TABLE invoices ()');
      const { code, errors } = await run(foreign, 'restore', file, '--replace');
      expect([code, errors]).toEqual([1, expect.stringContaining('(invoices)')]);
    });
  });

  it('with an older schema is migrated to the current one', async () => {
    const old = await makeTarget();
    await migrateDatabase(old.url, MIGRATIONS.slice(0, 8));
    const { tenantId } = await createTenant(old.database, 0);
    // In the format of that schema.
    await old.database.query(
      `WITH granted AS (UPDATE accounts SET balance = 77, granted = 77 WHERE tenant_id = $1)
       INSERT INTO ledger_entries (tenant_id, kind, amount) VALUES ($1, 'grant', 77)`,
      [tenantId],
    );
    const file = join(folder, 'old');
    expect(await run(old, 'backup', file)).toMatchObject({ code: 0 });
    const target = await makeTarget();
    const { output } = await run(target, 'restore', file);
    expect(output).toContain(`Brought its schema up to this version: ${MIGRATIONS[8]!.name}`);
    const { rows } = await target.database.query(
      `SELECT balance, (SELECT count(*) FROM migrations) AS migrations FROM accounts WHERE tenant_id = $1`,
      [tenantId],
    );
    expect(rows).toEqual([{ balance: 77, migrations: MIGRATIONS.length }]);
  });

  it('skips tables that are not the service’s, and removes none', async () => {
    await source.database.query('CREATE TABLE invoices (id serial)');
    await source.database.query('INSERT INTO invoices DEFAULT VALUES');
    const file = await backUp('with-invoices');
    await source.database.query('DROP TABLE invoices');
    const target = await makeTarget();
    const { code, output } = await run(target, 'restore', file);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`not the service's: the table invoices, 1 rows`),
    ]);
    await target.database.query('CREATE TABLE invoices ()');
    expect(await run(target, 'restore', file, '--replace')).toMatchObject({
      code: 1,
      errors: expect.stringContaining("tables beside the service's (invoices)"),
    });
  });

  it('can be restored after an earlier restore was killed halfway', async () => {
    const file = await backUp('again');
    const target = await makeTarget();
    await target.database.query('CREATE SCHEMA gateway_restore');
    await target.database.query('CREATE TABLE gateway_restore.tenants (half text)');
    expect(await run(target, 'restore', file)).toMatchObject({ code: 0 });
  });
});

interface Header {
  tables: { name: string }[];
  books: { figures: Record<string, string> };
}

/** Returns the first member of the file. */
function headerOf(file: string): Header {
  const tar = gunzipSync(readFileSync(file));
  const size = parseInt(tar.toString('latin1', 124, 136), 8);
  return JSON.parse(tar.toString('utf8', 512, 512 + size)) as Header;
}

/** Replaces text in the file's header, padded to the same length. */
function changed(file: string, before: string, after: string): Buffer {
  const tar = gunzipSync(readFileSync(file));
  const size = parseInt(tar.toString('latin1', 124, 136), 8);
  expect(JSON.parse(tar.toString('utf8', 512, 512 + size))).toEqual(JSON.parse(before));
  tar.write(after.padEnd(size), 512, size, 'utf8');
  return gzipSync(tar);
}

function sorted(rows: object[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
