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

/** A day's table of content. */
interface ContentDay {
  /** Needs no quotes. */
  readonly name: string;
  /** `2026-11-23` */
  readonly day: string;
  /** Including indices and TOAST. */
  readonly bytes: number;
}

/**
 * Creates the tables of today and tomorrow, and drops those beyond the retention, or the oldest
 * while all together exceed the size limit. When today's table alone exceeds it, logging stops
 * until the limit is raised or the day is over. Instances may run concurrently.
 */
@Injectable()
export class ContentRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ContentRetention.name);
  private bytes = 0;
  private readonly timer = new SweepTimer(
    async () => {
      await this.sweepNow();
    },
    (error) => this.logger.warn(`content log sweep failed:  ${error.name}`),
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
      'Size of logged prompts and answers in the database, at most a minute old.',
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

  /** Deletes old rows of days without a table, such as in a restored database. */
  private async sweepLoose(oldest: string): Promise<void> {
    if (oldest === '') return;
    await this.database.query('DELETE FROM request_contents_other WHERE day < $1', [oldest]);
    await this.database.query('DELETE FROM content_keys WHERE day < $1', [oldest]);
  }

  /** Oldest first. */
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
