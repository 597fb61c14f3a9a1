import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Retention } from '../../platform/time/retention.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import type { RouteCount } from './route-tally.js';
import { RoutingService } from './routing.service.js';

const KEPT_DAYS = 7;
const INTERVAL_MS = 10_000;

/** In one order everywhere, so that no two instances wait for each other. */
const WRITE = `
  INSERT INTO route_history AS history (period, provider, model, answered, failed, latency_ms)
  SELECT to_timestamp(period_ms / 1000.0), provider, model, answered, failed, latency_ms
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
    AS counts (period_ms, provider, model, answered, failed, latency_ms)
  ORDER BY 1, 2, 3
  ON CONFLICT (period, provider, model) DO UPDATE SET
    answered = history.answered + excluded.answered, failed = history.failed + excluded.failed,
    latency_ms = history.latency_ms + excluded.latency_ms`;

/** What became of calls to a route within a step of time. */
export interface RouteStep {
  readonly provider: string;
  readonly model: string;
  readonly at: Date;
  readonly answered: number;
  readonly failed: number;
  /** Of all answers together. */
  readonly latencyMs: number;
}

/** Writes down what became of calls to routes, off the path of requests, and keeps it for a week. */
@Injectable()
export class RouteHistory extends Retention {
  private readonly log = new Logger(RouteHistory.name);
  private readonly writing = new SweepTimer(
    () => this.writeNow(),
    ({ message }) => this.log.debug(`What became of calls is not written down yet: ${message}`),
  );

  constructor(
    private readonly database: Database,
    private readonly routing: RoutingService,
  ) {
    super('the history of routes', () => KEPT_DAYS);
  }

  override onApplicationBootstrap(): void {
    super.onApplicationBootstrap();
    this.writing.startLater(INTERVAL_MS);
  }

  override async onApplicationShutdown(): Promise<void> {
    await this.writing.stop();
    await super.onApplicationShutdown();
    await this.writeNow().catch((error: unknown) => {
      this.log.warn(`What became of the last calls is not written down: ${String(error)}`);
    });
  }

  /** What fails to be written is kept for the next time. */
  async writeNow(): Promise<void> {
    const counts = this.routing.tally.take();
    if (counts.length === 0) return;
    const all = <Value>(read: (count: RouteCount) => Value): Value[] => counts.map(read);
    try {
      await this.database.query(WRITE, [
        all(({ periodMs }) => periodMs),
        all(({ provider }) => provider),
        all(({ model }) => model),
        all(({ answered }) => answered),
        all(({ failed }) => failed),
        all(({ latencyMs }) => Math.round(latencyMs)),
      ]);
    } catch (error) {
      this.routing.tally.putBack(counts);
      throw error;
    }
  }

  /** By route and time; without what this process has not written yet. Steps without calls are left out. */
  async read(since: Date, stepSeconds: number): Promise<RouteStep[]> {
    const { rows } = await this.database.query<RouteStep>(
      `SELECT provider, model,
         to_timestamp(floor(extract(epoch FROM period) / $2) * $2) AS at,
         sum(answered)::bigint AS answered, sum(failed)::bigint AS failed,
         sum(latency_ms)::bigint AS "latencyMs"
       FROM route_history WHERE period >= $1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      [since, stepSeconds],
    );
    return rows;
  }

  protected async sweepBefore(before: Date): Promise<number> {
    const { rowCount } = await this.database.query('DELETE FROM route_history WHERE period < $1', [
      before,
    ]);
    return rowCount ?? 0;
  }
}
