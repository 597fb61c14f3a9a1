import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { Retention } from '../../platform/time/retention.js';
import { startOfUtcDay } from '../../platform/time/dates.js';

/** Rows per DELETE, to keep locks short. */
const MAX_ROWS = 1_000;

/**
 * Deletes ended jobs and their prompts after the log retention, by whole UTC days. Rows with
 * pending work stay: files to remove, refunds, webhooks and cancellations. Safe to run on several
 * instances.
 */
@Injectable()
export class JobRetentionService extends Retention {
  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'logRetentionDays'>,
  ) {
    super('ended jobs', () => config.logRetentionDays);
  }

  protected sweepBefore(instant: Date): Promise<number> {
    const before = startOfUtcDay(instant);
    return this.inBatches(() => this.sweepNext(before));
  }

  private async sweepNext(before: Date): Promise<number | undefined> {
    const { rows } = await this.database.query<{ swept: number }>(
      `WITH swept AS (
         DELETE FROM jobs WHERE id IN (
           SELECT id FROM jobs
           WHERE completed_at < $1 AND NOT webhook_due AND NOT cancel_due
             AND (status <> 'succeeded' OR fetched_at IS NOT NULL)
             AND NOT EXISTS (
               SELECT FROM job_artifacts WHERE job_id = jobs.id AND removed_at IS NULL
             )
           ORDER BY completed_at LIMIT $2 FOR UPDATE SKIP LOCKED
         ) RETURNING id
       ), files AS (
         DELETE FROM job_artifacts USING swept WHERE job_id = swept.id
       )
       SELECT count(*) AS swept FROM swept`,
      [before, MAX_ROWS],
    );
    return rows[0]!.swept || undefined;
  }
}
