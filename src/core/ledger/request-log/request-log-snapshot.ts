import type { PoolClient } from 'pg';
import type { Database } from '../../../platform/database/database.js';

/** How far the log has been added up and swept. */
export interface RequestLogProgress {
  /** The sums hold every row up to this id. */
  rolledUpId: number;
  /** Rows before this instant, a midnight, are gone or about to be. */
  sweptBefore: Date;
}

/**
 * Reads the log and its sums as they were at one moment, so that no row is missing or counted
 * twice. What comes of `progress` is to be sent as a parameter of later statements: PostgreSQL then
 * knows how few rows are left when it plans them.
 */
export function readSnapshot<Result>(
  database: Database,
  work: (client: PoolClient, progress: RequestLogProgress) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<RequestLogProgress>(
      `SELECT rolled_up_id AS "rolledUpId", swept_before AS "sweptBefore"
         FROM request_log_progress`,
    );
    return work(client, rows[0]!);
  });
}
