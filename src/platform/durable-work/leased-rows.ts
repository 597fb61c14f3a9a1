import type { QueryResult, QueryResultRow } from 'pg';
import type { WorkDepth } from './work-handler.js';

/** How long a dead worker blocks its row. */
const LEASE_SECONDS = 15;
/** A wake-up this overdue is lost. */
export const LOST_AFTER_SECONDS = 5;

/** SQL of rows with the columns `run_at`, `lease_id` and `lease_until`. They use the database's clock. */
export const IS_FREE = '(lease_until IS NULL OR lease_until < now())';
export const LEASED = `lease_until = now() + make_interval(secs => ${LEASE_SECONDS})`;
export const FREED = 'lease_id = NULL, lease_until = NULL';
const IS_LOST = `run_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS}) AND ${IS_FREE}`;

/** @param parameter number of milliseconds */
export function runAtAfter(parameter: string): string {
  return `run_at = now() + make_interval(secs => ${parameter} / 1000.0)`;
}

interface Querier {
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/** Statements for a table with those columns. */
export class LeasedRows {
  /** SQL condition: `takeLost` would find rows. */
  readonly areLost: string;

  /** @param isOpen SQL condition of rows that have not ended */
  constructor(
    private readonly table: string,
    private readonly isOpen: string,
  ) {
    this.areLost = `EXISTS (SELECT FROM ${table} WHERE ${isOpen} AND ${IS_LOST})`;
  }

  /** Returns rows with lost wake-ups or dead workers, and marks them as woken. */
  async takeLost(database: Querier, limit: number): Promise<string[]> {
    const { rows } = await database.query<{ id: string }>(
      `UPDATE ${this.table} SET run_at = now() WHERE id IN (
         SELECT id FROM ${this.table} WHERE ${this.isOpen} AND ${IS_LOST}
         ORDER BY run_at LIMIT $1 FOR UPDATE SKIP LOCKED
       ) RETURNING id`,
      [limit],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Ends leases. The rows are due after the delay.
   *
   * @param change further columns to set
   */
  async release(
    database: Querier,
    claims: readonly { readonly id: string; readonly leaseId: string }[],
    delayMs: number,
    change = '',
  ): Promise<void> {
    await database.query(
      `UPDATE ${this.table} claimed SET ${FREED}, ${runAtAfter('$3')}${change}
       FROM unnest($1::text[], $2::uuid[]) AS claim (id, lease_id)
       WHERE claimed.id = claim.id AND claimed.lease_id = claim.lease_id AND ${this.isOpen}`,
      [claims.map(({ id }) => id), claims.map(({ leaseId }) => leaseId), delayMs],
    );
  }

  async depth(database: Querier): Promise<WorkDepth> {
    const { rows } = await database.query<{ waiting: number; delayed: number; active: number }>(
      `SELECT count(*) FILTER (WHERE ${IS_FREE} AND run_at <= now()) AS waiting,
         count(*) FILTER (WHERE ${IS_FREE} AND run_at > now()) AS delayed,
         count(*) FILTER (WHERE NOT ${IS_FREE}) AS active
       FROM ${this.table} WHERE ${this.isOpen}`,
    );
    return rows[0]!;
  }
}
