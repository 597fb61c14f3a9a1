import 'reflect-metadata';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../src/platform/database/migrations.js';
import { locateCluster } from '../../src/platform/database/cluster-location.js';
import { migrateDatabase } from '../../src/platform/database/migrate-database.js';
import { PostgresServer } from '../../src/platform/database/postgres-server.js';
import { EmbeddedPostgresScene, query } from '../support/embedded-postgres-service.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const OLD_BINARIES = '/usr/lib/postgresql/15/bin';
const describeWithOld = existsSync(join(OLD_BINARIES, 'postgres')) ? describe : describe.skip;

describe('the embedded database', () => {
  const scene = new EmbeddedPostgresScene();
  const { dataDirectory } = scene;
  let server: TestDatabase;
  const run = (...words: string[]) =>
    runOperatorCommand({ GATEWAY_DATA_DIR: dataDirectory }, ...words);

  beforeAll(async () => {
    server = await createTestDatabase({ migrate: false });
    expect(await run('tenant', 'create', 'acme', '--credits', '5')).toMatchObject({ code: 0 });
  });
  afterEach(() => scene.stopAll());
  afterAll(async () => {
    await server.drop();
    scene.remove();
  });

  it('can be backed up while the service runs, and restored only while it does not', async () => {
    await scene.start();
    const file = join(scene.folder, 'backup');
    expect(await run('backup', file)).toMatchObject({ code: 0, errors: '' });
    expect(await run('restore', file, '--replace')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('is in use by another gateway'),
    });
    await scene.stopAll();
    await run('tenant', 'create', 'later');
    expect(await run('restore', file, '--replace')).toMatchObject({ code: 0, errors: '' });
    const { output } = await run('tenant', 'list');
    expect(output).toMatch(/acme +5 /);
    expect(output).not.toContain('later');
  });

  it('stays in use when its move fails', async () => {
    await server.database.query('CREATE TABLE invoices ()');
    const { code, errors } = await run('move', server.url);
    expect([code, errors]).toEqual([1, expect.stringContaining('(invoices)')]);
    await server.database.query('DROP TABLE invoices');
    expect((await run('tenant', 'list')).output).toContain('acme');
  });

  it('moves to a server, and reports that at later starts', async () => {
    const moved = await run('move', server.url);
    expect(moved).toMatchObject({ code: 0, errors: '' });
    const { host, pathname, password } = new URL(server.url);
    expect(moved.output).toContain(`@${host}${pathname} now: start it with DATABASE_URL`);
    const note = readFileSync(join(dataDirectory, 'DATABASE-WAS-MOVED.txt'), 'utf8');
    expect(note).toContain(`@${host}${pathname}`);
    if (password !== '') expect(note + moved.output).not.toContain(password);
    for (const words of [
      ['tenant', 'list'],
      ['backup', '-'],
      ['move', server.url],
    ]) {
      const { code, output, errors } = await run(...words);
      expect([code, output]).toEqual([1, '']);
      expect(errors).toMatch(/The database of this service was moved to .*Set DATABASE_URL to it/);
    }
    await expect(scene.start()).rejects.toThrow('was moved to');
    const there = await runOperatorCommand({ DATABASE_URL: server.url }, 'tenant', 'list');
    expect(there.output).toMatch(/acme +5 /);
  });
});

describeWithOld('a database created by PostgreSQL 15', () => {
  const scene = new EmbeddedPostgresScene();
  const { dataDirectory, cluster } = scene;
  const run = (...words: string[]) =>
    runOperatorCommand({ GATEWAY_DATA_DIR: dataDirectory }, ...words);

  beforeAll(async () => {
    const cluster = locateCluster({ dataDirectory, fallbackRoot: join(scene.folder, 'fallback') });
    const old = await PostgresServer.start({
      ...cluster,
      binaries: { folder: OLD_BINARIES, majorVersion: '15' },
    });
    await migrateDatabase(old.url, MIGRATIONS);
    await query(old.url, `INSERT INTO tenants (name) VALUES ('old')`);
    await old.stop();
  });
  afterEach(() => scene.stopAll());
  afterAll(() => scene.remove());

  it('is rejected with the command to run', async () => {
    await expect(scene.start()).rejects.toThrow('"npm run gateway -- move embedded"');
    expect(await run('move', 'embedded', '--binaries', '/nowhere')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('there is no /nowhere/postgres'),
    });
  });

  it('is moved to the installed version, and the old one is kept', async () => {
    writeFileSync(join(dataDirectory, 'secret'), `${'x'.repeat(32)}\n`);
    expect(await run('move', 'embedded')).toMatchObject({ code: 0, errors: '' });
    expect(readFileSync(`${cluster}.postgresql-15/PG_VERSION`, 'utf8')).toBe('15\n');
    const { url } = await scene.start();
    expect(await query(url, 'SELECT name FROM tenants')).toEqual([{ name: 'old' }]);
    await scene.stopAll();
    expect(await run('move', 'embedded')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('there is nothing to do'),
    });
  });

  it('is put in place by the next start when only that step was missing', async () => {
    renameSync(cluster, `${cluster}.upgraded`);
    const { url } = await scene.start();
    expect(await query(url, 'SELECT name FROM tenants')).toEqual([{ name: 'old' }]);
  });
});
