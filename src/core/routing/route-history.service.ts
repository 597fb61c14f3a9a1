import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Retention } from '../../platform/time/retention.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { PERIOD_MS, RouteTally, type RouteCount } from './route-tally.js';

const KEPT_DAYS = 7;
const INTERVAL_MS = 10_000;

/** Sorted, so that instances cannot deadlock. */
const WRITE = `
  INSERT INTO route_history AS history (period, provider, model, answered, failed, latency_ms,
    prompt_tokens, cached_tokens, output_tokens, output_ms)
  SELECT to_timestamp(period_ms / 1000.0), provider, model, answered, failed, latency_ms,
    prompt_tokens, cached_tokens, output_tokens, output_ms
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
      $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
    AS counts (period_ms, provider, model, answered, failed, latency_ms,
      prompt_tokens, cached_tokens, output_tokens, output_ms)
  ORDER BY 1, 2, 3
  ON CONFLICT (period, provider, model) DO UPDATE SET
    answered = history.answered + excluded.answered, failed = history.failed + excluded.failed,
    latency_ms = history.latency_ms + excluded.latency_ms,
    prompt_tokens = history.prompt_tokens + excluded.prompt_tokens,
    cached_tokens = history.cached_tokens + excluded.cached_tokens,
    output_tokens = history.output_tokens + excluded.output_tokens,
    output_ms = history.output_ms + excluded.output_ms`;

const SUMS = `
  sum(answered)::bigint AS answered, sum(failed)::bigint AS failed,
  sum(latency_ms)::bigint AS "latencyMs", sum(prompt_tokens)::bigint AS "promptTokens",
  sum(cached_tokens)::bigint AS "cachedTokens", sum(output_tokens)::bigint AS "outputTokens",
  sum(output_ms)::bigint AS "outputMs"`;

/** Cache time of recent sums. */
const LATELY_FRESH_MS = 5_000;
/** About 30 minutes, in whole periods including the current one. */
const LATELY_PERIODS = 6;

/** Outcomes of calls to a route in some time; see `RouteCount`. */
export type RouteSums = Readonly<Omit<RouteCount, 'periodMs'>>;

/** Outcomes of calls to a route in one step of time. */
export interface RouteStep extends RouteSums {
  readonly at: Date;
}

/**
 * Returns the share of prompt tokens that vendors read from their caches, 0 to 1; null without
 * tokens.
 */
export function cacheHitRateOf(sums: readonly RouteSums[]): number | null {
  const prompt = sums.reduce((total, each) => total + each.promptTokens, 0);
  const cached = sums.reduce((total, each) => total + each.cachedTokens, 0);
  return prompt > 0 ? Number((cached / prompt).toFixed(4)) : null;
}

/** Returns the share of calls that were answered, in percent; null without calls. */
export function uptimeOf(sums: readonly RouteSums[]): number | null {
  const answered = sums.reduce((total, each) => total + each.answered, 0);
  const calls = sums.reduce((total, each) => total + each.failed, answered);
  return calls > 0 ? Number(((100 * answered) / calls).toFixed(2)) : null;
}

/** Stores the outcomes of calls to routes off the request path, for a week. */
@Injectable()
export class RouteHistory extends Retention {
  private readonly log = new Logger(RouteHistory.name);
  private latelyReadMs = -Infinity;
  private latelySums: Promise<readonly RouteSums[]> = Promise.resolve([]);
  private readonly writing = new SweepTimer(
    () => this.writeNow(),
    ({ message }) => this.log.debug(`route history not written, retrying:  ${message}`),
  );

  constructor(
    private readonly database: Database,
    private readonly tally: RouteTally,
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
      this.log.warn(`route history lost at shutdown:  ${String(error)}`);
    });
  }

  /** Counts that cannot be written are kept for the next time. */
  async writeNow(): Promise<void> {
    const counts = this.tally.take();
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
        all(({ promptTokens }) => promptTokens),
        all(({ cachedTokens }) => cachedTokens),
        all(({ outputTokens }) => outputTokens),
        all(({ outputMs }) => outputMs),
      ]);
    } catch (error) {
      this.tally.putBack(counts);
      throw error;
    }
  }

  /**
   * Returns outcomes by route and time, without this process's unwritten counts. Omits steps
   * without calls.
   */
  async read(since: Date, stepSeconds: number): Promise<RouteStep[]> {
    const { rows } = await this.database.query<RouteStep>(
      `SELECT provider, model,
         to_timestamp(floor(extract(epoch FROM period) / $2) * $2) AS at, ${SUMS}
       FROM route_history WHERE period >= $1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      [since, stepSeconds],
    );
    return rows;
  }

  /**
   * Returns the outcomes of shared routes in the last 25 to 30 minutes, of all instances. A few
   * seconds old, or older during a database outage. Omits routes without calls.
   */
  lately(nowMs = Date.now()): Promise<readonly RouteSums[]> {
    if (nowMs - this.latelyReadMs >= LATELY_FRESH_MS) {
      const known = this.latelySums;
      this.latelyReadMs = nowMs;
      this.latelySums = this.readLately(nowMs).catch(() => known);
    }
    return this.latelySums;
  }

  private async readLately(nowMs: number): Promise<readonly RouteSums[]> {
    const firstMs = (Math.floor(nowMs / PERIOD_MS) - LATELY_PERIODS + 1) * PERIOD_MS;
    const { rows } = await this.database.query<RouteSums>(
      `SELECT provider, model, ${SUMS} FROM route_history WHERE period >= $1 GROUP BY 1, 2`,
      [new Date(firstMs)],
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
