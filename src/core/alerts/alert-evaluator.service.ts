import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import type { AlertKind } from './alert.js';
import { AlertDeliveries } from './alert-deliveries.service.js';
import {
  CLAIM_EVALUATION,
  COUNT_MINUTES,
  DELETE_MINUTES,
  FINISH_EVALUATION,
  recordEvents,
} from './alert-statements.js';

const INTERVAL_MS = 15_000;
/** Minimum time between evaluations, by any process. */
const MIN_PAUSE_SECONDS = 10;
/** Log rows that one statement counts. */
const ROWS_AT_ONCE = 50_000;
/** Kinds that depend on the request log of the last hour. */
const OF_MINUTES: readonly AlertKind[] = ['error_rate', 'spend_unusual'];

interface Evaluation {
  now: Date;
  counted_id: number;
  rolled_up_id: number;
  /** True when the minutes are counted up to `counted_id` and can be continued. */
  counts: boolean;
  kinds: AlertKind[];
}

/**
 * Evaluates the conditions of all rules every 15 seconds, in one process at a time. New events are
 * recorded in the same transaction, so each is delivered once even if the process dies.
 */
@Injectable()
export class AlertEvaluator implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AlertEvaluator.name);
  private readonly timer = new SweepTimer(
    () => this.evaluate(),
    ({ message }) => this.logger.warn(`alert evaluation failed: ${message}`),
  );
  private lastDurationMs = 0;

  constructor(
    private readonly database: Database,
    private readonly deliveries: AlertDeliveries,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue'>,
    metrics: GatewayMetrics,
  ) {
    metrics.track(
      'gateway_alerts_look_seconds',
      'Duration of the latest alert evaluation by this process; 0 before the first.',
      () => this.lastDurationMs / 1_000,
    );
  }

  onApplicationBootstrap(): void {
    if (this.config.queue.consume) this.timer.startLater(INTERVAL_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /**
   * Evaluates all rules, unless another process is doing so or has just done so.
   *
   * @param at the time to evaluate for; default: the database's
   */
  async evaluate(at?: Date): Promise<void> {
    const startedMs = performance.now();
    const due = await this.database.transaction((client) => this.evaluateIn(client, at));
    if (!due) return;
    this.lastDurationMs = performance.now() - startedMs;
    for (const id of due) this.deliveries.deliver(id);
  }

  /** Returns the deliveries to make; undefined when it is another process's turn. */
  private async evaluateIn(
    client: PoolClient,
    at: Date | undefined,
  ): Promise<string[] | undefined> {
    const claimed = await client.query<Evaluation>(CLAIM_EVALUATION, [
      at ?? null,
      MIN_PAUSE_SECONDS,
    ]);
    const [evaluation] = claimed.rows;
    if (!evaluation) return undefined;
    const { now, kinds } = evaluation;
    const countedId = await countMinutes(client, evaluation);
    const due: string[] = [];
    for (const kind of kinds) {
      const { rows } = await client.query<{ id: string }>(recordEvents(kind), [now, kind]);
      due.push(...rows.map(({ id }) => id));
    }
    await client.query(FINISH_EVALUATION, [now, countedId]);
    return due;
  }
}

/** Returns the last log row counted into minutes; null when no rule needs them. */
async function countMinutes(
  client: PoolClient,
  { now, kinds, counts, counted_id: countedId, rolled_up_id: last }: Evaluation,
): Promise<number | null> {
  if (!kinds.some((kind) => OF_MINUTES.includes(kind))) return null;
  // All rows up to `last` are committed. Rows from a time without counting are skipped.
  let counted = counts ? countedId : last;
  while (counted < last) {
    const to = Math.min(last, counted + ROWS_AT_ONCE);
    await client.query(COUNT_MINUTES, [now, counted, to]);
    counted = to;
  }
  await client.query(DELETE_MINUTES, [now]);
  return counted;
}
