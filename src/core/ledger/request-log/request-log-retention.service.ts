import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { Database } from '../../../platform/database/database.js';
import { Retention } from '../../../platform/time/retention.js';
import { startOfUtcDay } from '../../../platform/time/dates.js';

/** Rows that one statement deletes: keeps its locks short. */
const MAX_ROWS = 5_000;

/**
 * Deletes log rows that are older than the setting says, by whole days (UTC). They are hidden all
 * at once and then deleted in batches; their sums, the ledger and its statements stay. Any number
 * of instances may sweep at once.
 */
@Injectable()
export class RequestLogRetentionService extends Retention {
  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) { logRetentionDays }: Pick<AppConfig, 'logRetentionDays'>,
  ) {
    super('the request log', logRetentionDays);
  }

  protected async sweepBefore(instant: Date): Promise<number> {
    await this.database.query(
      'UPDATE request_log_progress SET swept_before = $1 WHERE swept_before < $1',
      [startOfUtcDay(instant)],
    );
    return this.inBatches(() => this.sweepNext());
  }

  /**
   * The oldest ids first, which are the oldest rows but for requests that took long; a row that
   * hides behind younger ones goes with those. Only what is in the sums already is deleted.
   */
  private async sweepNext(): Promise<number | undefined> {
    const { rowCount } = await this.database.query(
      `WITH oldest AS (
         SELECT id, created_at FROM request_logs
         WHERE id <= (SELECT rolled_up_id FROM request_log_progress)
         ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
       )
       DELETE FROM request_logs WHERE id IN (
         SELECT id FROM oldest
         WHERE created_at < (SELECT swept_before FROM request_log_progress)
       )`,
      [MAX_ROWS],
    );
    return rowCount || undefined;
  }
}
