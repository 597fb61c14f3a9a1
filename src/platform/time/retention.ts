import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DAY_MS, HOUR_MS } from './dates.js';
import { SweepTimer } from './sweep-timer.js';

/**
 * Deletes expired data at the start and every hour. Subclasses say what and how, and must tolerate sweeps of
 * other instances at the same time.
 */
export abstract class Retention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(this.constructor.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logger.warn(`sweep of ${this.what} failed: ${nameOf(error)}`),
  );

  /**
   * @param what the kind of data, for the log
   * @param keptDays how many days it is kept, as of now; 0 for ever
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

  /** Sweeps now. Returns how many were deleted. */
  async sweepNow(now = new Date()): Promise<number> {
    const days = this.keptDays();
    if (days === 0) return 0;
    return this.sweepBefore(new Date(now.getTime() - days * DAY_MS));
  }

  /** Deletes rows older than the instant and returns their number. */
  protected abstract sweepBefore(before: Date): Promise<number>;

  /**
   * Deletes in batches, so that a stop does not wait for the last one.
   *
   * @param next deletes one batch and returns its size; undefined when nothing is left
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

/** Returns the kind of an error. Its message may quote values of rows. */
function nameOf(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}
