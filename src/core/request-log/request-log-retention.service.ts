import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import {
  type MonthPartition,
  monthsEndedBy,
  withShortLocks,
} from '../../platform/database/month-partitions.js';
import { Retention } from '../../platform/time/retention.js';
import { startOfUtcDay } from '../../platform/time/dates.js';

/** Rows per delete statement, to keep locks short. */
const MAX_ROWS = 5_000;

/**
 * Tables outside the monthly partitions: rows older than those, and of months without a partition.
 */
const LOOSE_TABLES = ['request_logs_before_months', 'request_logs_other'] as const;

/**
 * Hides log rows older than the retention, by whole days (UTC) and all at once. Drops months in
 * which every row is hidden, and deletes rows outside the months in batches. Keeps sums, ledger and
 * statements. Instances may sweep concurrently.
 */
@Injectable()
export class RequestLogRetentionService extends Retention {
  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'logRetentionDays'>,
  ) {
    super('the request log', () => config.logRetentionDays);
  }

  protected async sweepBefore(instant: Date): Promise<number> {
    const before = startOfUtcDay(instant);
    await this.database.query(
      'UPDATE request_log_progress SET swept_before = $1 WHERE swept_before < $1',
      [before],
    );
    let deleted = 0;
    for (const table of LOOSE_TABLES) deleted += await this.inBatches(() => this.sweepNext(table));
    const months = await monthsEndedBy(this.database, 'request_logs', before);
    return (
      deleted +
      (await this.inBatches(async () => {
        const month = months.shift();
        return month && ((await this.drop(month)) ?? 0);
      }))
    );
  }

  /**
   * Deletes the lowest ids first, which are the oldest rows except for long requests; a hidden row
   * among younger ones is deleted with those. Deletes only rows that are summed already.
   */
  private async sweepNext(table: (typeof LOOSE_TABLES)[number]): Promise<number | undefined> {
    const { rowCount } = await this.database.query(
      `WITH oldest AS (
         SELECT id, created_at FROM ${table}
         WHERE id <= (SELECT least(rolled_up_id, series_id) FROM request_log_progress)
         ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
       )
       DELETE FROM ${table} WHERE id IN (
         SELECT id FROM oldest
         WHERE created_at < (SELECT swept_before FROM request_log_progress)
       )`,
      [MAX_ROWS],
    );
    return rowCount || undefined;
  }

  /** Drops a past month, unless a row is still visible or not summed yet. */
  private drop({ name }: MonthPartition): Promise<number | undefined> {
    return withShortLocks(this.database, async (client) => {
      // Blocks writes to the month; reads continue until it is dropped.
      await client.query(`LOCK TABLE ${name} IN SHARE ROW EXCLUSIVE MODE`);
      const { rows } = await client.query<{ rows: number; kept: number }>(
        `SELECT count(*) AS rows, count(*) FILTER (
           WHERE created_at >= swept_before OR id > least(rolled_up_id, series_id)
         ) AS kept
         FROM ${name}, request_log_progress`,
      );
      if (rows[0]!.kept > 0) return 0;
      await client.query(`DROP TABLE ${name}`);
      return rows[0]!.rows;
    });
  }
}
