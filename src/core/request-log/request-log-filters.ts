import { conditionsOf, type LogFilters } from './log-dimensions.js';
import type { PoolClient } from 'pg';
import type { Database } from '../../platform/database/database.js';

/** Which rows of a tenant are asked for; what is undefined does not matter. */
export interface RequestLogFilters extends LogFilters {
  /** Rows of this instant and later. */
  readonly start?: Date | undefined;
  /** Rows before this instant. */
  readonly end?: Date | undefined;
}

/** A condition on rows of the log, or their sums; its parameters are $1 to $n. */
interface RequestLogCondition {
  sql: string;
  values: unknown[];
}

/**
 * Says in SQL which rows of a tenant the filters leave, apart from their time. There is no form
 * without a tenant.
 */
export function conditionOf(tenantId: string, filters: LogFilters): RequestLogCondition {
  const values: unknown[] = [tenantId];
  const conditions = conditionsOf(filters, (value) => `$${values.push(value)}`);
  return { sql: ['tenant_id = $1', ...conditions].join(' AND '), values };
}

export interface TenantLogFilters extends RequestLogFilters {
  /** Undefined: of all tenants. */
  readonly tenantId?: string | undefined;
}

/** How far the log has been added up and swept. */
export interface RequestLogProgress {
  /** The sums hold every row up to this id. */
  rolledUpId: number;
  /** The same of the series. */
  seriesId: number;
  /** A midnight; sums of facets are whole from there on. */
  facetsFrom: Date;
  /** Rows before this instant, a midnight, are gone or about to be. */
  sweptBefore: Date;
  /** Whether there are months that are no longer in the database. */
  hasArchive: boolean;
}

/**
 * Reads the log and its sums as they were at one moment, so that no row is missing or counted
 * twice. What comes of `progress` is to be sent as a parameter of later statements: PostgreSQL then
 * knows how few rows are left when it plans them. The lock keeps months from being archived between
 * the moment and the last statement: their rows would be in neither place.
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
