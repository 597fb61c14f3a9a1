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
 * Makes the partitions of this month and the next three of the log and the ledger, at the start and
 * every hour, so that dozens of rounds may fail. Any number of instances may do so at once. A
 * request whose month has none is kept all the same, and moves when there is one.
 */
@Injectable()
export class MonthPartitionsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MonthPartitionsService.name);
  private readonly timer = new SweepTimer(
    () => this.makeAhead(),
    (error) => this.logger.warn(`Making partitions of months failed: ${describeError(error)}`),
  );

  constructor(private readonly database: Database) {}

  onApplicationBootstrap(): void {
    this.timer.start(HOUR_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns how many were made; undefined when somebody was in the way, and none was. */
  async makeAhead(): Promise<number | undefined> {
    return withShortLocks(this.database, async (client) => {
      const { rows } = await client.query<{ made: number }>(
        'SELECT make_month_partitions() AS made',
      );
      return rows[0]!.made;
    });
  }
}
