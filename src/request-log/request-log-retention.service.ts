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
const MAX_ROWS = 5_000;

/**
 * Deletes log rows that are older than the setting says, by whole days (UTC). They are hidden all
 * at once and then deleted in batches; their sums, the ledger and its statements stay. Any number
 * of instances may sweep at once.
 */
@Injectable()
export class RequestLogRetentionService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RequestLogRetentionService.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logger.warn(`The sweep of the request log failed: ${error.message}`),
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

  /** Returns how many rows were deleted. */
  async sweepNow(now = new Date()): Promise<number> {
    const { logRetentionDays } = this.config;
    if (logRetentionDays === 0) return 0;
    const oldest = new Date(now.getTime() - logRetentionDays * DAY_MS);
    const before = new Date(Math.floor(oldest.getTime() / DAY_MS) * DAY_MS);
    await this.database.query(
      'UPDATE request_log_progress SET swept_before = $1 WHERE swept_before < $1',
      [before],
    );
    let deleted = 0;
    while (!this.timer.isStopped) {
      const swept = await this.sweepNext();
      deleted += swept;
      if (swept === 0) break;
    }
    return deleted;
  }

  /**
   * The oldest ids first, which are the oldest rows but for requests that took long; a row that
   * hides behind younger ones goes with those. Only what is in the sums already is deleted.
   */
  private async sweepNext(): Promise<number> {
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
    return rowCount ?? 0;
  }
}
