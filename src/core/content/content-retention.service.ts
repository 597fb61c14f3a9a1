import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { withShortLocks } from '../../platform/database/month-partitions.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { DAY_MS } from '../../platform/time/dates.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { ContentWriter } from './content-writer.service.js';

const SWEEP_MS = 60_000;

/** What is kept of one day, as a table of its own. */
interface ContentDay {
  /** The table's name, which needs no quotes. */
  readonly name: string;
  /** `2026-11-23` */
  readonly day: string;
  /** With its indices and what lies beside it. */
  readonly bytes: number;
}

/**
 * Makes the tables of today and tomorrow, and drops those of days that are over: older than the setting
 * says, or the oldest while all together take more room than there is. Where today's alone takes it,
 * nothing more is kept until the bound is raised or the day is over. Any number of instances do so.
 */
@Injectable()
export class ContentRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ContentRetention.name);
  private bytes = 0;
  private readonly timer = new SweepTimer(
    async () => {
      await this.sweepNow();
    },
    (error) => this.logger.warn(`The sweep of the content log failed: ${error.name}`),
  );

  constructor(
    private readonly database: Database,
    private readonly writer: ContentWriter,
    metrics: GatewayMetrics,
    @Inject(APP_CONFIG)
    private readonly config: Pick<
      AppConfig,
      'contentLog' | 'contentRetentionDays' | 'contentMaxBytes'
    >,
  ) {
    metrics.track(
      'gateway_content_log_bytes',
      'What prompts and answers take in the database, as of the last minute.',
      () => this.bytes,
    );
  }

  onApplicationBootstrap(): void {
    this.timer.start(SWEEP_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns the days whose tables were dropped. */
  async sweepNow(now = new Date()): Promise<string[]> {
    const { contentLog, contentRetentionDays, contentMaxBytes } = this.config;
    if (contentLog !== 'off') {
      await withShortLocks(this.database, (client) => client.query('SELECT make_content_days()'));
    }
    const today = now.toISOString().slice(0, 10);
    const oldest =
      contentRetentionDays === 0
        ? ''
        : new Date(now.getTime() - contentRetentionDays * DAY_MS).toISOString().slice(0, 10);
    await this.sweepLoose(oldest);
    const days = await this.days();
    let bytes = days.reduce((sum, day) => sum + day.bytes, 0);
    const dropped: string[] = [];
    for (const each of days) {
      const isOver = each.day < oldest || (bytes > contentMaxBytes && each.day < today);
      if (!isOver || !(await this.drop(each))) continue;
      bytes -= each.bytes;
      dropped.push(each.day);
    }
    this.bytes = bytes;
    this.writer.isStorageFull = bytes > contentMaxBytes;
    return dropped;
  }

  /** Rows of days without a table, as of a database that was restored. */
  private async sweepLoose(oldest: string): Promise<void> {
    if (oldest === '') return;
    await this.database.query('DELETE FROM request_contents_other WHERE day < $1', [oldest]);
    await this.database.query('DELETE FROM content_keys WHERE day < $1', [oldest]);
  }

  /** The oldest first. */
  private async days(): Promise<ContentDay[]> {
    const { rows } = await this.database.query<ContentDay>(
      `SELECT relname::text AS name, replace(right(relname, 10), '_', '-') AS day,
         pg_total_relation_size(pg_class.oid) AS bytes
       FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = 'request_contents'::regclass
         AND relname ~ '_[0-9]{4}_[0-9]{2}_[0-9]{2}$'
       ORDER BY relname`,
    );
    return rows;
  }

  private async drop({ name, day }: ContentDay): Promise<boolean> {
    const done = await withShortLocks(this.database, async (client) => {
      await client.query(`DROP TABLE ${name}`);
      await client.query('DELETE FROM content_keys WHERE day = $1', [day]);
      return true;
    });
    return done === true;
  }
}
