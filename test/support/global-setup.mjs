import { runMigrations, Logger } from 'graphile-worker';
import { appendFile, chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ensureBuilt } from '../../scripts/ensure-built.mjs';
import { makeQuickFolder } from './quick-folder.mjs';

const TEMPLATE = `test_template_${process.pid}`;

/** Builds the service for process-level tests and starts one PostgreSQL for all suites. */
export default async function globalSetup() {
  await ensureBuilt();
  globalThis.__testFolder = await makeQuickFolder();
  // Workers inherit it.
  if (globalThis.__testFolder) process.env.TMPDIR = globalThis.__testFolder;
  // Runs the suites on another server, such as another version of PostgreSQL.
  const server = process.env.TEST_POSTGRES_URL ?? (await startPostgres());
  process.env.TEST_POSTGRES_URL = server;
  process.env.TEST_POSTGRES_TEMPLATE = TEMPLATE;
  globalThis.__testTemplate = { server, name: TEMPLATE };
  await makeTemplate(server);
}

async function startPostgres() {
  const { startEmbeddedPostgres } =
    await import('../../dist/src/platform/database/embedded-postgres.js');
  const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  // As root, PostgreSQL runs as `nobody`, which needs access to the folder.
  await chmod(dataDirectory, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDirectory, createsDatabases: true });
  globalThis.__testPostgres = { postgres, dataDirectory };
  await spareProcessorAndDisk(dataDirectory);
  return postgres.url;
}

/**
 * Turns off durability and passwords, which the tests do not need. Checking the password takes a fifth of
 * PostgreSQL's cost of a session and two thirds of Node's.
 */
async function spareProcessorAndDisk(dataDirectory) {
  if (process.platform === 'win32') return;
  const { locateCluster } = await import('../../dist/src/platform/database/cluster-location.js');
  const { clusterFolder } = locateCluster({ dataDirectory });
  const [pid] = (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8')).split('\n');
  await appendFile(
    join(clusterFolder, 'postgresql.conf'),
    '\nfsync = off\nfull_page_writes = off\n',
  );
  const access = join(clusterFolder, 'pg_hba.conf');
  await writeFile(access, (await readFile(access, 'utf8')).replaceAll('scram-sha-256', 'trust'));
  process.kill(Number(pid), 'SIGHUP');
}

/** Creates the migrated database that suites copy, since migrating each would take a second. */
async function makeTemplate(server) {
  const [{ migrateDatabase }, { MIGRATIONS }] = await Promise.all([
    import('../../dist/src/platform/database/migrate-database.js'),
    import('../../dist/src/platform/database/migrations.js'),
  ]);
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${TEMPLATE}`;
  await migrateDatabase(url.href, MIGRATIONS);
  // The queue's tables.
  await runMigrations({ connectionString: url.href, logger: new Logger(() => () => undefined) });
}
