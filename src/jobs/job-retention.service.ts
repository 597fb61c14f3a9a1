import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../common/config/app-config.js';
import { Database } from '../common/database/database.js';
import { SweepTimer } from '../common/time/sweep-timer.js';

const SWEEP_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Rows that one statement deletes: keeps its locks short. */
const MAX_ROWS = 1_000;

/**
 * Deletes jobs that ended longer ago than log rows are kept, by whole days (UTC), with their prompts.
 * What is left to do for a job keeps its row: files to remove, a refund, a webhook, a cancellation.
 * Any number of instances may sweep at once.
 */
@Injectable()
export class JobRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(JobRetention.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logger.warn(`The sweep of ended jobs failed: ${error.message}`),
  );

  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'logRetentionDays'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.logRetentionDays !== 0) this.timer.start(SWEEP_INTERVAL_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns how many jobs were deleted. */
  async sweepNow(now = new Date()): Promise<number> {
    const { logRetentionDays } = this.config;
    if (logRetentionDays === 0) return 0;
    const oldest = new Date(now.getTime() - logRetentionDays * DAY_MS);
    const before = new Date(Math.floor(oldest.getTime() / DAY_MS) * DAY_MS);
    let deleted = 0;
    while (!this.timer.isStopped) {
      const swept = await this.sweepNext(before);
      deleted += swept;
      if (swept === 0) break;
    }
    return deleted;
  }

  private async sweepNext(before: Date): Promise<number> {
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
    return rows[0]!.swept;
  }
}
