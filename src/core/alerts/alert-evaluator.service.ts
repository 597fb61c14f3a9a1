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
  COUNT_MINUTES,
  END_TURN,
  FORGET_MINUTES,
  noteEvents,
  TAKE_TURN,
} from './alert-statements.js';

const LOOK_EVERY_MS = 15_000;
/** A process whose timer comes sooner after another's look leaves it at that. */
const MIN_PAUSE_SECONDS = 10;
/** Rows of the log that one statement counts. */
const ROWS_AT_ONCE = 50_000;
/** Kinds that ask what the request log says of the last hour. */
const OF_MINUTES: readonly AlertKind[] = ['error_rate', 'spend_unusual'];

interface Turn {
  now: Date;
  counted_id: number;
  rolled_up_id: number;
  /** Whether the minutes are filled up to `counted_id` and go on from there. */
  counts: boolean;
  kinds: AlertKind[];
}

/**
 * Looks every 15 seconds whether what rules look for is the case, in one process at a time. What is new
 * becomes a row in the transaction of the look, so that it is told once, whatever ends meanwhile.
 */
@Injectable()
export class AlertEvaluator implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AlertEvaluator.name);
  private readonly timer = new SweepTimer(
    () => this.look(),
    ({ message }) => this.logger.warn(`Alerts could not be looked for: ${message}`),
  );
  private lastLookMs = 0;

  constructor(
    private readonly database: Database,
    private readonly deliveries: AlertDeliveries,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue'>,
    metrics: GatewayMetrics,
  ) {
    metrics.track(
      'gateway_alerts_look_seconds',
      'How long the last look for alerts took that this process made; 0 before the first.',
      () => this.lastLookMs / 1_000,
    );
  }

  onApplicationBootstrap(): void {
    if (this.config.queue.consume) this.timer.startLater(LOOK_EVERY_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /**
   * Makes a look, unless another process is at it or has just made one.
   *
   * @param at the time by which it is judged; undefined: the database's
   */
  async look(at?: Date): Promise<void> {
    const startedMs = performance.now();
    const due = await this.database.transaction((client) => this.lookAt(client, at));
    if (!due) return;
    this.lastLookMs = performance.now() - startedMs;
    for (const id of due) this.deliveries.deliver(id);
  }

  /** @returns the deliveries to make; undefined when it is not this process's turn */
  private async lookAt(client: PoolClient, at: Date | undefined): Promise<string[] | undefined> {
    const taken = await client.query<Turn>(TAKE_TURN, [at ?? null, MIN_PAUSE_SECONDS]);
    const [turn] = taken.rows;
    if (!turn) return undefined;
    const countedId = await countMinutes(client, turn);
    const due: string[] = [];
    for (const kind of turn.kinds) {
      const { rows } = await client.query<{ id: string }>(noteEvents(kind), [turn.now, kind]);
      due.push(...rows.map(({ id }) => id));
    }
    await client.query(END_TURN, [turn.now, countedId]);
    return due;
  }
}

/** @returns up to which row of the log the minutes are filled; null when nobody asks for them */
async function countMinutes(client: PoolClient, turn: Turn): Promise<number | null> {
  if (!turn.kinds.some((kind) => OF_MINUTES.includes(kind))) return null;
  const { now, rolled_up_id: last } = turn;
  // Rows up to that one have all been committed. Of what came while nobody counted nothing is made.
  let counted = turn.counts ? turn.counted_id : last;
  while (counted < last) {
    const to = Math.min(last, counted + ROWS_AT_ONCE);
    await client.query(COUNT_MINUTES, [now, counted, to]);
    counted = to;
  }
  await client.query(FORGET_MINUTES, [now]);
  return counted;
}
