import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DAY_MS, HOUR_MS } from './dates.js';
import { SweepTimer } from './sweep-timer.js';

/**
 * Deletes what has been kept for long enough: once at the start, and every hour from then on. A
 * subclass says what and how; it has to bear that any number of instances sweep at once.
 */
export abstract class Retention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(this.constructor.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logger.warn(`The sweep of ${this.what} failed: ${nameOf(error)}`),
  );

  /**
   * @param what is deleted, for the log
   * @param keptDays so many days it is kept, as of now; 0 is for ever
   */
  constructor(
    private readonly what: string,
    private readonly keptDays: () => number,
  ) {}

  onApplicationBootstrap(): void {
    this.timer.start(HOUR_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns how many were deleted. */
  async sweepNow(now = new Date()): Promise<number> {
    const days = this.keptDays();
    if (days === 0) return 0;
    return this.sweepBefore(new Date(now.getTime() - days * DAY_MS));
  }

  /** Deletes what is older than the instant, and tells how many that were. */
  protected abstract sweepBefore(before: Date): Promise<number>;

  /**
   * Deletes batch by batch, so that a stop need not wait for the last of them.
   *
   * @param next deletes one batch and tells how many that were; undefined when nothing is left
   */
  protected async inBatches(next: () => Promise<number | undefined>): Promise<number> {
    let deleted = 0;
    while (!this.timer.isStopped) {
      const swept = await next();
      if (swept === undefined) break;
      deleted += swept;
    }
    return deleted;
  }
}

/** What kind of error it is. Its message is left out: a database's may quote a row's values. */
function nameOf(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}
