import type { Readable } from 'node:stream';
import type { Client } from 'pg';
import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import { findBookFaults, readBookFigures, type BookFigures } from '../../core/ledger/books.js';
import { DEAD_AFTER_SECONDS } from '../../core/ledger/instance.service.js';
import { readBackup } from './backup-archive.js';
import { emptySchema, moveObjects, tablesIn } from './schema-swap.js';
import { connectForCopy, listMigrations, withSchema } from './table-copy.js';
import { migrateDatabase } from '../../platform/database/migrate-database.js';
import { codeOf } from '../../platform/errors/thrown.js';
import { MIGRATIONS } from '../../platform/database/migrations.js';
import type { BackupCounts, BackupHeader } from './backup-header.js';
import { RestoreError, StagingLoader, type RestoreOptions } from './staging-loader.js';

/** Staging schema: everything is loaded and checked here before it replaces the target. */
const STAGING = 'gateway_restore';
const LOCK_NAME = 'model-gateway restore';

export interface RestoredBackup {
  readonly header: BackupHeader;
  readonly counts: BackupCounts;
  readonly figures: BookFigures;
  /** Ledger violations that were already in the backup. */
  readonly faults: readonly string[];
  /** Names of migrations applied on top of the backup. */
  readonly newMigrations: readonly string[];
  /** Tables in the backup that are not the service's and were left out. */
  readonly foreign: readonly string[];
}

/**
 * Loads a backup into a staging schema, migrates it, checks the books, and then swaps it with the
 * target's tables in one short transaction. A failure before the swap leaves the target unchanged.
 * @throws RestoreError, BackupFileError
 */
export async function restoreBackup(
  source: Readable,
  options: RestoreOptions,
): Promise<RestoredBackup> {
  const target = await connectForCopy(options.url);
  try {
    await lockRestores(target);
    await assertFree(target, options);
    await makeStaging(target);
    const staged = await fillStaging(source, options);
    options.beforePlacing?.();
    await swapIn(target, options);
    return staged;
  } finally {
    source.destroy();
    await target.query(`DROP SCHEMA IF EXISTS ${STAGING} CASCADE`).catch(() => undefined);
    await target.end();
  }
}

async function lockRestores(target: Client): Promise<void> {
  const { rows } = await target.query<{ is_mine: boolean }>(
    'SELECT pg_try_advisory_lock(hashtext($1)) AS is_mine',
    [LOCK_NAME],
  );
  if (rows[0]?.is_mine !== true) {
    throw new RestoreError('Another restore into this database is in progress.');
  }
}

/** Removes the staging schema of a restore that was killed. */
async function makeStaging(target: Client): Promise<void> {
  await target.query(`DROP SCHEMA IF EXISTS ${STAGING} CASCADE`);
  try {
    await target.query(`CREATE SCHEMA ${STAGING}`);
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    throw new RestoreError(
      'The role in DATABASE_URL cannot create schemas, which a restore needs: GRANT CREATE ON DATABASE … TO that role.',
    );
  }
}

/** @throws RestoreError when a service is running, or data would be lost without confirmation */
async function assertFree(
  target: Client,
  { replaces, isExclusive }: RestoreOptions,
): Promise<void> {
  const schema = await schemaOf(target);
  const tables = await tablesIn(target, schema);
  if (tables.length === 0) return;
  const migrations = await listMigrations(target);
  if (!migrations.includes(MIGRATIONS[0]?.name ?? '')) {
    throw new RestoreError(
      `The database contains tables that are not this service's (${tables.slice(0, 3).join(', ')}): restore into a separate database.`,
    );
  }
  const { rows } = await target.query<{ live: number; tenants: number }>(
    `SELECT
       (SELECT count(*) FROM instances
         WHERE heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS})) AS live,
       (SELECT count(*) FROM tenants) AS tenants`,
  );
  const { live = 0, tenants = 0 } = rows[0] ?? {};
  if (live > 0 && !isExclusive) {
    throw new RestoreError(
      `${live} instances of the service are using this database: stop them first. A killed instance counts for up to ${DEAD_AFTER_SECONDS} more seconds.`,
    );
  }
  if (tenants > 0 && !replaces) {
    throw new RestoreError(
      `The database contains ${tenants} tenants: restore into an empty database, or discard its content with --replace.`,
    );
  }
}

/** Loads, migrates and checks the backup. */
async function fillStaging(source: Readable, options: RestoreOptions): Promise<RestoredBackup> {
  const url = withSchema(options.url, STAGING);
  const loader = new StagingLoader(url, options);
  try {
    for await (const member of readBackup(source)) await loader.take(member);
    const { header, counts, foreign } = loader.finished();
    const client = await loader.complete(header);
    const newMigrations = MIGRATIONS.map(({ name }) => name).filter(
      (name) => !header.migrations.includes(name),
    );
    if (newMigrations.length > 0) await migrateDatabase(url, MIGRATIONS);
    await client.query('ANALYZE');
    const { isLogWhole } = header.books;
    const faults = await findBookFaults(client, { isLogWhole });
    const newFaults = faults.filter((fault) => !header.books.faults.includes(fault));
    if (newFaults.length > 0) {
      throw new RestoreError(`The restored books do not balance: ${newFaults.join('; ')}`);
    }
    const figures = await readBookFigures(client);
    const isSame = Object.entries(figures).every(
      ([name, value]) => value === (header.books.figures[name] ?? value),
    );
    if (newMigrations.length === 0 && !isSame) {
      throw new RestoreError('The restored books do not match those of the backup.');
    }
    // Sessions ended since the backup would be open again.
    await client.query('UPDATE sessions SET revoked_at = now() WHERE revoked_at IS NULL');
    await client.query('DELETE FROM login_links');
    await new AuditLog().record(client, COMMAND_AUTHOR, {
      tenantId: null,
      action: 'database.restore',
      target: { type: 'database', id: 'PostgreSQL' },
      before: null,
      after: { backup_made_at: header.madeAt, tenants: counts.rows.tenants ?? 0 },
    });
    await loader.placeArtifacts();
    return { header, counts, figures, faults, newMigrations, foreign };
  } finally {
    await loader.close();
  }
}

/** Swaps the schemas atomically. */
async function swapIn(target: Client, options: RestoreOptions): Promise<void> {
  const schema = await schemaOf(target);
  await target.query('BEGIN');
  try {
    const tables = await tablesIn(target, schema);
    // A service that starts now waits until the swap is complete.
    if (tables.length > 0) await target.query(`LOCK TABLE ${tables.join(', ')}`);
    await assertFree(target, options);
    await assertNoOtherTables(target);
    await emptySchema(target, schema);
    await moveObjects(target, STAGING, schema);
    await target.query(`DROP SCHEMA ${STAGING}`);
    await target.query('COMMIT');
  } catch (error) {
    await target.query('ROLLBACK');
    throw error;
  }
}

/**
 * @throws RestoreError when tables would be lost that are neither restored nor part of a newer
 * version
 */
async function assertNoOtherTables(target: Client): Promise<void> {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  if ((await listMigrations(target)).some((name) => !known.has(name))) return;
  const { rows } = await target.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition AND relname NOT IN (
          SELECT relname FROM pg_class WHERE relnamespace = '${STAGING}'::regnamespace
        )`,
  );
  if (rows.length === 0) return;
  throw new RestoreError(
    `The database contains other tables besides the service's (${rows.map(({ name }) => name).join(', ')}): move them to another schema or database first.`,
  );
}

/** Returns the schema of the role's tables: `public`, unless configured otherwise. */
async function schemaOf(target: Client): Promise<string> {
  const { rows } = await target.query<{ schema: string | null }>(
    'SELECT current_schema() AS schema',
  );
  const schema = rows[0]?.schema;
  if (typeof schema === 'string') return schema;
  throw new RestoreError('The database has no schema for tables: run CREATE SCHEMA public.');
}
