import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { databaseOptions } from '../../src/common/database/database-options.js';
import { Database } from '../../src/common/database/database.js';

export interface TestDatabase {
  url: string;
  dataSource: DataSource;
  database: Database;
  /** Closes the connections and removes the database. */
  drop(): Promise<void>;
}

/** An empty database of its own on the test server, migrated unless asked otherwise. */
export async function createTestDatabase(options?: { migrate?: boolean }): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name}`);
  const url = databaseUrl(name);
  const dataSource = await new DataSource(databaseOptions(url)).initialize();
  if (options?.migrate !== false) await dataSource.runMigrations();
  const database = new Database(dataSource);
  return {
    url,
    dataSource,
    database,
    async drop() {
      await database.onApplicationShutdown();
      if (dataSource.isInitialized) await dataSource.destroy();
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

function databaseUrl(name: string): string {
  const server = process.env.TEST_POSTGRES_URL;
  if (!server) throw new Error('TEST_POSTGRES_URL is missing: run tests through jest.config.mjs');
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
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
