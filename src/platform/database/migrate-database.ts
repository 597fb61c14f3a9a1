import pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { databaseOptions } from './database-options.js';

const LOCK_NAME = 'model-gateway migrations';

/**
 * Runs the pending ones of these migrations; of several instances that start at once only one does.
 *
 * @param migrations all that the program has, oldest first
 */
export async function migrateDatabase(
  url: string,
  migrations: (new () => MigrationInterface)[],
): Promise<void> {
  const locker = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await locker.connect();
  try {
    await locker.query(`SELECT pg_advisory_lock(hashtext($1))`, [LOCK_NAME]);
    const options = { ...databaseOptions(url), migrations, poolSize: 1 };
    const dataSource = await new DataSource(options).initialize();
    try {
      await dataSource.runMigrations();
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await locker.end();
  }
}
