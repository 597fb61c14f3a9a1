import pg, { type PoolClient } from 'pg';
import { LOCK_NOT_AVAILABLE } from './database-outage.js';
import type { Database } from './database.js';

/** Tables partitioned by month; see the migration PartitionByMonth and docs/decisions/0038. */
export type PartitionedTable = 'request_logs' | 'ledger_entries';

/** One month of a table, as a table of its own. */
export interface MonthPartition {
  /** The partition's name, which needs no quotes. */
  readonly name: string;
  /** `2026_11`, as at the end of the name. */
  readonly month: string;
}

const UNDEFINED_TABLE = '42P01';
const LOCK_LIMIT_MS = 200;

/** Returns the months of a table that ended by `instant`, oldest first. */
export async function monthsEndedBy(
  database: Pick<Database, 'query'>,
  table: PartitionedTable,
  instant: Date,
): Promise<MonthPartition[]> {
  const { rows } = await database.query<MonthPartition>(
    `SELECT relname AS name, right(relname, 7) AS month
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = $1::regclass AND relname ~ '_[0-9]{4}_[0-9]{2}$'
       AND (to_date(right(relname, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC' <= $2
     ORDER BY relname`,
    [`${table}_months`, instant],
  );
  return rows;
}

/**
 * Runs `work` in a transaction with a short lock timeout, because its locks block requests.
 *
 * @returns the result of `work`; undefined when another session had a lock or had dropped the table,
 *   and nothing was done
 */
export async function withShortLocks<Result>(
  database: Database,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await database.transaction(async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_LIMIT_MS}`);
      return work(client);
    });
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code !== LOCK_NOT_AVAILABLE && code !== UNDEFINED_TABLE) throw error;
    return undefined;
  }
}
