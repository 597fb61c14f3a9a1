import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../common/config/app-config.js';
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
  private interval: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    private readonly repository: StoredResponsesRepository,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'responseRetentionDays'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.responseRetentionDays === 0) return;
    this.tick();
    this.interval = setInterval(() => this.tick(), SWEEP_INTERVAL_MS);
    this.interval.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.interval);
    await this.sweeping;
  }

  /** Returns how many responses were deleted. */
  async sweepNow(now = new Date()): Promise<number> {
    const { responseRetentionDays } = this.config;
    if (responseRetentionDays === 0) return 0;
    const before = new Date(now.getTime() - responseRetentionDays * DAY_MS);
    let deleted = 0;
    let position: SweepPosition | undefined = { createdAt: '-infinity', id: '' };
    while (position && !this.isStopped) {
      const swept = await this.repository.sweep(before, position, MAX_ROWS);
      deleted += swept.deleted;
      position = swept.next;
    }
    return deleted;
  }

  private tick(): void {
    this.sweeping ??= this.sweepNow()
      .then(
        () => undefined,
        (error: unknown) => {
          this.logger.warn(`The sweep of responses failed: ${(error as Error).name}`);
        },
      )
      .finally(() => {
        this.sweeping = undefined;
      });
  }
}
