import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../common/config/app-config.js';
import { SweepTimer } from '../common/time/sweep-timer.js';
import { StoredResponsesRepository, type SweepPosition } from './stored-responses.repository.js';

const SWEEP_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Rows that one statement looks at: keeps its locks short. */
const MAX_ROWS = 1_000;

/**
 * Deletes responses that have been kept for as long as the setting says, counted from the last
 * turn of their conversation. Any number of instances may sweep at once.
 */
@Injectable()
export class ResponseRetentionService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ResponseRetentionService.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logger.warn(`The sweep of responses failed: ${error.name}`),
  );

  constructor(
    private readonly repository: StoredResponsesRepository,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'responseRetentionDays'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.responseRetentionDays !== 0) this.timer.start(SWEEP_INTERVAL_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns how many responses were deleted. */
  async sweepNow(now = new Date()): Promise<number> {
    const { responseRetentionDays } = this.config;
    if (responseRetentionDays === 0) return 0;
    const before = new Date(now.getTime() - responseRetentionDays * DAY_MS);
    let deleted = 0;
    let position: SweepPosition | undefined = { createdAt: '-infinity', id: '' };
    while (position && !this.timer.isStopped) {
      const swept = await this.repository.sweep(before, position, MAX_ROWS);
      deleted += swept.deleted;
      position = swept.next;
    }
    return deleted;
  }
}
