import { setTimeout as pause } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { ROLL_UP } from './roll-up-statements.js';
import { ADD_TO_SERIES, CLEAR_FACETS, MAKE_FACETS } from './series-statements.js';

/** A settlement that corrects a row waits for this transaction, for five seconds at most. */
const LONGEST_MS = 500;
const LEAST_SHARE = 1 / 64;
const INTERVAL_MS = 10_000;
interface Progress {
  rolled_up_id: number;
  series_id: number;
  facet_id: number;
}

/** How long to wait for transactions that may still write older rows, and how often to check. */
const PATIENCE_MS = 5_000;
const LOOK_INTERVAL_MS = 25;

/**
 * Adds new rows of the request log to its sums, off the request path. Instances may run
 * concurrently: each row is counted once, and readers get consistent sums and remaining rows.
 */
@Injectable()
export class RequestLogRollUpService implements OnApplicationBootstrap, OnApplicationShutdown {
  /**
   * Limits of series per kind in a tenant's month: with all dimensions, and with end users alone.
   */
  seriesOfMonth = { most: 20_000, mostOfAll: 50_000 };
  /** Most rows per transaction. */
  rowsAtOnce = 10_000;
  /**
   * Fraction of those that keeps a transaction short: rows of many tenants take a hundred times as
   * long as rows of one.
   */
  private share = 1;
  private readonly logger = new Logger(RequestLogRollUpService.name);
  private readonly timer = new SweepTimer(
    () => this.rollUpNow(),
    (error) => this.logger.warn(`request log roll-up failed: ${error.message}`),
  );

  constructor(private readonly database: Database) {}

  onApplicationBootstrap(): void {
    this.timer.start(INTERVAL_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Sums everything committed so far, or less when an older transaction does not end. */
  async rollUpNow(): Promise<void> {
    const lastId = await this.findWork();
    if (lastId !== undefined && (await this.allDecidedUpTo())) {
      while (!this.timer.isStopped && (await this.rollUpNext(lastId)));
    }
    while (!this.timer.isStopped && (await this.makeFacetsBefore()));
  }

  /** Returns the newest row's id; undefined when there is nothing to add. */
  private async findWork(): Promise<number | undefined> {
    const { rows } = await this.database.query<{ last_id: number; has_work: boolean }>(`
      SELECT last_id, last_id > least(rolled_up_id, series_id)
          OR EXISTS (SELECT FROM request_log_corrections)
          OR EXISTS (SELECT FROM request_log_series_corrections) AS has_work
      FROM request_log_progress,
        (SELECT coalesce(max(id), 0) AS last_id FROM request_logs) AS newest`);
    return rows[0]?.has_work ? rows[0].last_id : undefined;
  }

  /**
   * Ids are assigned before commit, so rows below the newest may still be invisible. A transaction
   * with such an id has locked an account before, so its transaction id is below one taken now:
   * once all those have ended, no row is missing.
   */
  private async allDecidedUpTo(): Promise<boolean> {
    const { rows } = await this.database.query<{ mark: string }>(
      'SELECT pg_current_xact_id()::text AS mark',
    );
    const deadlineMs = performance.now() + PATIENCE_MS;
    while (!this.timer.isStopped) {
      const { rowCount } = await this.database.query(
        'SELECT WHERE pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8',
        [rows[0]?.mark],
      );
      if (rowCount === 1) return true;
      if (performance.now() > deadlineMs) return false;
      await pause(LOOK_INTERVAL_MS);
    }
    return false;
  }

  /**
   * @returns whether there is more for this instance to do
   */
  private async rollUpNext(lastId: number): Promise<boolean> {
    const startedMs = performance.now();
    const hasMore = await this.rollUpRows(lastId, Math.ceil(this.rowsAtOnce * this.share));
    const takenMs = performance.now() - startedMs;
    if (takenMs > LONGEST_MS) this.share = Math.max(this.share / 2, LEAST_SHARE);
    else if (takenMs < LONGEST_MS / 4) this.share = Math.min(this.share * 2, 1);
    return hasMore;
  }

  private rollUpRows(lastId: number, count: number): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<Progress>(
        'SELECT rolled_up_id, series_id, facet_id FROM request_log_progress FOR UPDATE SKIP LOCKED',
      );
      // Another instance is running.
      if (!rows[0]) return false;
      const next = (from: number) => Math.max(from, Math.min(lastId, from + count));
      const { rolled_up_id: rolledUp, series_id: summed, facet_id: faceted } = rows[0];
      const [to, summedTo] = [next(rolledUp), next(summed)];
      await client.query(ROLL_UP, [rolledUp, to]);
      const { most, mostOfAll } = this.seriesOfMonth;
      await client.query(ADD_TO_SERIES, [summed, summedTo, most, mostOfAll]);
      await client.query(
        'UPDATE request_log_progress SET rolled_up_id = $1, series_id = $2, facet_id = $2',
        [to, summedTo],
      );
      // An instance of an older version has updated the series alone, and may do so again.
      if (faceted !== summed) {
        await client.query(
          `UPDATE request_log_progress SET facets_from = 'infinity', facets_again_at = now() + interval '15 minutes'`,
        );
      }
      return to < lastId || summedTo < lastId;
    });
  }

  /**
   * Builds the facet sums of the day before the complete ones.
   *
   * @returns whether there is more to do
   */
  private makeFacetsBefore(): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<{ day: Date }>(
        `SELECT least(facets_from, date_trunc('day', now(), 'UTC') + interval '2 days') - interval '1 day' AS day
         FROM request_log_progress
         WHERE facets_from > '-infinity' AND facets_again_at <= now() AND facet_id = series_id
         FOR UPDATE SKIP LOCKED`,
      );
      if (!rows[0]) return false;
      const { day } = rows[0];
      await client.query(CLEAR_FACETS, [day]);
      await client.query(MAKE_FACETS, [day]);
      const { rows: next } = await client.query<{ is_done: boolean }>(
        `UPDATE request_log_progress SET facets_from = CASE
           WHEN EXISTS (SELECT FROM request_log_series WHERE month < $1) THEN $1::timestamptz ELSE '-infinity' END
         RETURNING facets_from = '-infinity' AS is_done`,
        [day],
      );
      return next[0]?.is_done === false;
    });
  }
}
