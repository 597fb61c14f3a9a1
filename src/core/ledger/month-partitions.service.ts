import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { withShortLocks } from '../../platform/database/month-partitions.js';
import { HOUR_MS } from '../../platform/time/dates.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { describeError } from './database-failure.js';

/**
 * Creates the log's and the ledger's partitions for this month and the next three, at start and every
 * hour, which leaves room for many failed rounds. Any number of instances may do so at once. Rows of a
 * month without a partition are stored elsewhere, and moved once it exists.
 */
@Injectable()
export class MonthPartitionsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MonthPartitionsService.name);
  private readonly timer = new SweepTimer(
    () => this.createAhead(),
    (error) => this.logger.warn(`month partition creation failed: ${describeError(error)}`),
  );

  constructor(private readonly database: Database) {}

  onApplicationBootstrap(): void {
    this.timer.start(HOUR_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns how many were created; undefined when another session's lock prevented it. */
  async createAhead(): Promise<number | undefined> {
    return withShortLocks(this.database, async (client) => {
      const { rows } = await client.query<{ made: number }>(
        'SELECT make_month_partitions() AS made',
      );
      return rows[0]!.made;
    });
  }
}
