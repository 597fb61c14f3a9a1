import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { MIGRATIONS } from '../../src/app/migrations.js';
import type { databaseOptions } from '../../src/platform/database/database-options.js';
import type { Database } from '../../src/platform/database/database.js';
import { importBuilt } from './built.js';
import { until } from './until.js';

export interface TestDatabase {
  url: string;
  dataSource: DataSource;
  database: Database;
  /** Closes the connections and removes the database. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** True unless said otherwise; else the database has no tables. */
  readonly migrate?: boolean;
  /** Where the classes come from; `sources` for a suite that tells the driver's errors by their class. */
  readonly classes?: 'built' | 'sources';
}

/** A database of its own on the test server, with the service's tables and no rows unless said otherwise. */
export async function createTestDatabase({
  migrate = true,
  classes = 'built',
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { DataSource, Database, databaseOptions, MIGRATIONS } = await CLASSES[classes]();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name}`);
  const url = databaseUrl(name);
  const dataSource = await new DataSource({
    ...databaseOptions(url),
    migrations: MIGRATIONS,
  }).initialize();
  if (migrate) await dataSource.runMigrations();
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

interface Classes {
  readonly DataSource: typeof DataSource;
  readonly Database: typeof Database;
  readonly databaseOptions: typeof databaseOptions;
  readonly MIGRATIONS: typeof MIGRATIONS;
}

const CLASSES: Record<'built' | 'sources', () => Promise<Classes>> = {
  async built() {
    const [typeorm, options, database, migrations] = await Promise.all([
      importShared('typeorm') as Promise<typeof import('typeorm')>,
      importBuilt<typeof import('../../src/platform/database/database-options.js')>(
        'platform/database/database-options.js',
      ),
      importBuilt<typeof import('../../src/platform/database/database.js')>(
        'platform/database/database.js',
      ),
      importBuilt<typeof import('../../src/app/migrations.js')>('app/migrations.js'),
    ]);
    return { ...typeorm, ...options, ...database, ...migrations };
  },
  async sources() {
    const [typeorm, options, database, migrations] = await Promise.all([
      import('typeorm'),
      import('../../src/platform/database/database-options.js'),
      import('../../src/platform/database/database.js'),
      import('../../src/app/migrations.js'),
    ]);
    return { ...typeorm, ...options, ...database, ...migrations };
  },
};

function databaseUrl(name: string): string {
  const server = process.env.TEST_POSTGRES_URL;
  if (!server) throw new Error('TEST_POSTGRES_URL is missing: run tests through jest.config.mjs');
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Connections of the suite are ended. One of PostgreSQL's own cleaners cannot be, and is waited for. */
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
