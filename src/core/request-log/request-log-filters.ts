import { conditionsOf, type LogFilters } from './log-dimensions.js';
import type { PoolClient } from 'pg';
import type { Database } from '../../platform/database/database.js';

/** Filters on a tenant's rows; undefined fields match everything. */
export interface RequestLogFilters extends LogFilters {
  /** Inclusive start. */
  readonly start?: Date | undefined;
  /** Exclusive end. */
  readonly end?: Date | undefined;
}

/** A condition on log rows or their sums, with parameters $1 to $n. */
interface RequestLogCondition {
  sql: string;
  values: unknown[];
}

/** Returns a tenant's filters, apart from time, as SQL. The tenant is mandatory. */
export function conditionOf(tenantId: string, filters: LogFilters): RequestLogCondition {
  const values: unknown[] = [tenantId];
  const conditions = conditionsOf(filters, (value) => `$${values.push(value)}`);
  return { sql: ['tenant_id = $1', ...conditions].join(' AND '), values };
}

export interface TenantLogFilters extends RequestLogFilters {
  /** Undefined for all tenants. */
  readonly tenantId?: string | undefined;
}

/** Progress of summing and sweeping the log. */
export interface RequestLogProgress {
  /** The sums include every row up to this id. */
  rolledUpId: number;
  /** The series include every row up to this id. */
  seriesId: number;
  /** A midnight; facet sums are complete from there. */
  facetsFrom: Date;
  /** A midnight; older rows are deleted or about to be. */
  sweptBefore: Date;
  /** True when months have been archived. */
  hasArchive: boolean;
}

/**
 * Reads the log and its sums in one snapshot, so that no row is missing or counted twice. Pass
 * values of `progress` as parameters of later statements: PostgreSQL then knows how few rows are
 * left when planning. The lock prevents archiving between the snapshot and the last statement, when
 * rows would be in neither place.
 */
export function readSnapshot<Result>(
  database: Database,
  work: (client: PoolClient, progress: RequestLogProgress) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (client) => {
    await client.query(
      `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
       LOCK TABLE ONLY request_logs_months IN ACCESS SHARE MODE`,
    );
    const { rows } = await client.query<RequestLogProgress>(
      `SELECT rolled_up_id AS "rolledUpId", series_id AS "seriesId",
           CASE WHEN facet_id = series_id THEN least(greatest(facets_from, 'epoch'), '9999-01-01Z')
             ELSE '9999-01-01Z' END AS "facetsFrom", swept_before AS "sweptBefore",
           EXISTS (SELECT FROM archived_request_logs) AS "hasArchive"
         FROM request_log_progress`,
    );
    return work(client, rows[0]!);
  });
}
