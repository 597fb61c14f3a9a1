import pg from 'pg';
import { DataSource } from 'typeorm';
import { databaseOptions } from './database-options.js';

const LOCK_NAME = 'model-gateway migrations';

/** Runs the pending migrations; of several instances that start at once only one does. */
export async function migrateDatabase(url: string): Promise<void> {
  const locker = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await locker.connect();
  try {
    await locker.query(`SELECT pg_advisory_lock(hashtext($1))`, [LOCK_NAME]);
    const dataSource = await new DataSource({ ...databaseOptions(url), poolSize: 1 }).initialize();
    try {
      await dataSource.runMigrations();
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await locker.end();
  }
}
