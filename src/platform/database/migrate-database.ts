import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { ConfigError } from '../config/config-error.js';
import { programVersion } from '../config/program-version.js';
import { databaseOptions } from './database-options.js';
import type { SqlExecutor } from './database.js';
import { LOCK_NOT_AVAILABLE, sqlStateOf } from './database-outage.js';

const LOCK_NAME = 'model-gateway migrations';

/** A lock is given up rather than have the requests of the version before wait behind it for long. */
const LOCK_LIMIT_MS = 200;
const PAUSE_MS = 100;
const MAX_ATTEMPTS = 400;
/** Somebody else has the lock, or both waited for each other. */
const LOCKED = new Set([LOCK_NOT_AVAILABLE, '40P01']);

/**
 * Runs the pending ones of these migrations; of several instances that start at once only one does.
 *
 * @param migrations all that the program has, oldest first
 * @param then what else is to be done before others come, on the same session: each costs the server as much as its look-ups
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

/** Whether migrations of these names are pending. */
async function lacksAny(executor: SqlExecutor, known: readonly string[]): Promise<boolean> {
  if (!(await hasTable(executor, 'migrations'))) return true;
  const { rows } = await executor.query<{ name: string }>('SELECT name FROM migrations');
  const done = new Set(rows.map(({ name }) => name));
  return known.some((name) => !done.has(name));
}

/**
 * Asks again and again rather than wait in PostgreSQL: whoever waits there has a snapshot, for whose end a migration
 * that builds an index beside the service's work (`CONCURRENTLY`) would wait in turn.
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
 * Each in a transaction of its own, and again where others held what it needs.
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
        if (attempt === MAX_ATTEMPTS || !LOCKED.has(sqlStateOf(error) ?? '')) throw error;
        await pause(PAUSE_MS);
      }
    }
  } finally {
    await dataSource.destroy();
  }
}

/** What a database has that came with a later version of the program. */
export interface NewerSchema {
  /** The last of its migrations that are not known here. */
  readonly last: string;
  readonly count: number;
  /** The version that made them. */
  readonly migratedBy: string | null;
}

/** @param known names of all migrations that the program has; undefined: the database has no others */
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
    `The database's schema is newer than this program, version ${own}: it has ` +
    `${count === 1 ? 'a migration' : `${count} migrations`} that this version does not know, the last of them ${last}. ` +
    `Start ${maker === 'a later version' ? maker : `version ${maker}, which made them, or a later one`}; ` +
    'to go back to this one, restore a backup that was made before the upgrade.'
  );
}

async function hasTable(executor: SqlExecutor, name: string): Promise<boolean> {
  const { rows } = await executor.query<{ found: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS found',
    [name],
  );
  return rows[0]?.found === true;
}
