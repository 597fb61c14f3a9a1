import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import { Database } from '../../src/platform/database/database.js';
import { ENTITIES } from './entities.js';
import { until } from './until.js';

export interface TestDatabase {
  url: string;
  dataSource: DataSource;
  database: Database;
  /** Closes the connections and removes the database. */
  drop(): Promise<void>;
}

/**
 * Creates a database on the test server with the service's tables and no rows.
 *
 * @param options.migrate false for one without tables
 */
export async function createTestDatabase({ migrate = true } = {}): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = migrate ? fromSetUp('TEST_POSTGRES_TEMPLATE') : 'template1';
  // Copying files takes half as long as writing each page to the write-ahead log.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = databaseUrl(name);
  const dataSource = await new DataSource({
    ...databaseOptions(url),
    entities: ENTITIES,
  }).initialize();
  const database = new Database(dataSource);
  return {
    url,
    dataSource,
    database,
    async drop() {
      await database.onApplicationShutdown();
      if (dataSource.isInitialized) await dataSource.destroy();
      await dropDatabase(name);
    },
  };
}

/** See `global-setup.mjs`. */
function fromSetUp(name: 'TEST_POSTGRES_URL' | 'TEST_POSTGRES_TEMPLATE'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: run tests through jest.config.mjs`);
  return value;
}

function databaseUrl(name: string): string {
  const url = new URL(fromSetUp('TEST_POSTGRES_URL'));
  url.pathname = `/${name}`;
  return url.href;
}

/** Ends the suite's connections. Waits for PostgreSQL's own maintenance processes, which cannot be ended. */
async function dropDatabase(name: string): Promise<void> {
  await until(async () => {
    try {
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
      return true;
    } catch (error) {
      if ((error as Error).message !== 'permission denied to terminate process') throw error;
      return false;
    }
  });
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl('postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
