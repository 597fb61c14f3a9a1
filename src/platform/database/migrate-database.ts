import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { ConfigError } from '../config/config-error.js';
import { programVersion } from '../config/program-version.js';
import { databaseOptions } from './database-options.js';
import type { SqlExecutor } from './database.js';
import { LOCK_NOT_AVAILABLE, sqlStateOf } from './database-outage.js';

const LOCK_NAME = 'model-gateway migrations';

/** A migration gives up a lock after this time, so that requests of the previous version do not wait behind it. */
const LOCK_LIMIT_MS = 200;
const PAUSE_MS = 100;
const MAX_ATTEMPTS = 400;
/** Another session has the lock, or the two deadlocked. */
const LOCK_ERRORS = new Set([LOCK_NOT_AVAILABLE, '40P01']);

/**
 * Runs the pending migrations. Of several instances that start at once, only one runs them.
 *
 * @param migrations all migrations of the program, oldest first
 * @param then runs afterwards under the same lock, on the same session, because a new session costs
 *   the server as much as its look-ups
 * @throws ConfigError when the database has migrations that the program does not know
 */
export async function migrateDatabase(
  url: string,
  migrations: (new () => MigrationInterface)[],
  then: (session: SqlExecutor) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const locker = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await locker.connect();
  try {
    await takeLock(locker);
    const known = migrations.map(({ name }) => name);
    const newer = await readNewerSchema(locker, known);
    if (newer) throw new ConfigError([describeNewerSchema(newer)]);
    if (await lacksAny(locker, known)) {
      const isNew = await runMigrations(url, migrations);
      if (isNew && (await hasTable(locker, 'installation'))) {
        await locker.query('UPDATE installation SET migrated_by = $1', [programVersion()]);
      }
    }
    await then(locker);
  } finally {
    await locker.end();
  }
}

/** Returns whether any of these migrations is pending. */
async function lacksAny(executor: SqlExecutor, known: readonly string[]): Promise<boolean> {
  if (!(await hasTable(executor, 'migrations'))) return true;
  const { rows } = await executor.query<{ name: string }>('SELECT name FROM migrations');
  const done = new Set(rows.map(({ name }) => name));
  return known.some((name) => !done.has(name));
}

/**
 * Polls instead of waiting in PostgreSQL: a waiting session has a snapshot, and a migration that builds an
 * index with `CONCURRENTLY` would wait for that snapshot to end.
 */
async function takeLock(locker: SqlExecutor): Promise<void> {
  for (;;) {
    const { rows } = await locker.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtext($1)) AS taken',
      [LOCK_NAME],
    );
    if (rows[0]!.taken) return;
    await pause(PAUSE_MS);
  }
}

/**
 * Runs each migration in its own transaction, and retries when others hold its locks.
 *
 * @returns whether there were any to run
 */
async function runMigrations(
  url: string,
  migrations: (new () => MigrationInterface)[],
): Promise<boolean> {
  const common = databaseOptions(url);
  const extra = { options: `${common.extra.options} -c lock_timeout=${LOCK_LIMIT_MS}` };
  const options = { ...common, extra, migrations, poolSize: 1 };
  const dataSource = await new DataSource(options).initialize();
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const done = await dataSource.runMigrations();
        return done.length > 0 || attempt > 1;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !LOCK_ERRORS.has(sqlStateOf(error) ?? '')) throw error;
        await pause(PAUSE_MS);
      }
    }
  } finally {
    await dataSource.destroy();
  }
}

/** Migrations in a database that a later version of the program created. */
export interface NewerSchema {
  /** Name of the latest migration that is unknown here. */
  readonly last: string;
  readonly count: number;
  /** The program version that ran them. */
  readonly migratedBy: string | null;
}

/** @param known names of all migrations of the program. @returns undefined when the database has no others */
export async function readNewerSchema(
  executor: SqlExecutor,
  known: readonly string[],
): Promise<NewerSchema | undefined> {
  if (!(await hasTable(executor, 'migrations'))) return undefined;
  const { rows } = await executor.query<{ name: string }>(
    'SELECT name FROM migrations WHERE name <> ALL ($1) ORDER BY timestamp DESC, id DESC',
    [known],
  );
  const [last] = rows;
  if (!last) return undefined;
  const made = (await hasTable(executor, 'installation'))
    ? await executor.query<{ migratedBy: string | null }>(
        'SELECT migrated_by AS "migratedBy" FROM installation',
      )
    : undefined;
  const migratedBy = made?.rows[0]?.migratedBy ?? null;
  return { last: last.name, count: rows.length, migratedBy };
}

export function describeNewerSchema({ last, count, migratedBy }: NewerSchema): string {
  const own = programVersion();
  const maker = migratedBy === null || migratedBy === own ? 'a later version' : migratedBy;
  return (
    `The database schema is newer than this program (version ${own}): it has ` +
    `${count === 1 ? 'a migration' : `${count} migrations`} that this version does not know, the latest being ${last}. ` +
    `Start ${maker === 'a later version' ? maker : `version ${maker}, which ran them, or a later one`}. ` +
    'To go back to this version, restore a backup from before the upgrade.'
  );
}

async function hasTable(executor: SqlExecutor, name: string): Promise<boolean> {
  const { rows } = await executor.query<{ found: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS found',
    [name],
  );
  return rows[0]?.found === true;
}
