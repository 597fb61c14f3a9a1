import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { runMigrations, Logger as GraphileLogger } from 'graphile-worker';
import type pg from 'pg';
import { TIME_LIMITS } from '../database/database-options.js';
import { DatabaseSessions } from '../database/sessions.js';
import { endsWithin, within } from '../time/within.js';
import { GraphilePresence } from './graphile-presence.js';
import {
  addWakeUp,
  isEmpty,
  readDepths,
  readNextDue,
  releaseDeadWorkers,
  releaseWorkers,
  removeSpent,
  type AddOptions,
  type WakeUp,
} from './graphile-statements.js';
import { GraphileTopic } from './graphile-topic.js';
import {
  TOPICS,
  WorkQueue,
  type Consumer,
  type ConsumeOptions,
  type QueueDepth,
  type Topic,
  type WakeOptions,
  retryDelayMs,
} from './work-queue.js';

const LIMIT_MS = 2_000;
/** The longest pause between two queries for due rows; new wake-ups are announced. */
const LOOK_EVERY_MS = 1_000;
/** The same while the queue is empty, in case an announcement was missed. */
const QUIET_LOOK_EVERY_MS = 5_000;
const SHORTEST_PAUSE_MS = 20;
/** Minimum pause for announcements, of which hundreds may arrive per second. */
const PAUSE_AFTER_LOOK_MS = 200;
const SWEEP_EVERY_MS = 2_000;
/** Delay before a key that is in progress is tried again. */
const TURN_TAKEN_DELAY_MS = 300;
/** One connection per topic to listen on, and two for everything else. */
const POOL_SIZE = TOPICS.length + 2;
/** Workers give up when a connection takes longer; there are many more workers than connections. */
const CONNECTION_LIMIT_MS = 8_000;
const CLOSE_LIMIT_MS = 500;

/** The queue on the service's database. */
export class GraphileWorkQueue extends WorkQueue implements OnModuleInit, OnApplicationShutdown {
  readonly kind = 'database';
  private readonly logger = new Logger('WorkQueue');
  private readonly graphileLogger = graphileLogger();
  private readonly pool: pg.Pool;
  private readonly presence: GraphilePresence;
  private readonly topics = new Map<Topic, GraphileTopic>();
  /** Called when the stop begins. */
  private readonly listeners: (() => void)[] = [];
  /** Keys in progress here; the presence announces them to other processes. */
  private readonly turns = new Set<string>();
  private starting: Promise<void> | undefined;
  private looking: NodeJS.Timeout | undefined;
  private nextLookAtMs = 0;
  private lookedAtMs = -Infinity;
  private nextSweepAtMs = 0;
  private isStopping = false;

  constructor(url: string) {
    super();
    this.pool = openPool(url);
    this.presence = new GraphilePresence(url, () => this.hear());
  }

  async onModuleInit(): Promise<void> {
    await runMigrations({ pgPool: this.pool, logger: this.graphileLogger });
  }

  async wake(topic: Topic, key: string, { delayMs = 0 }: WakeOptions = {}): Promise<void> {
    const options = delayMs > 0 ? { delayMs } : { slot: `${topic}:${key}` };
    await this.reach(this.add(topic, { key, failures: 0 }, options));
  }

  async consume(topic: Topic, consumer: Consumer, options: ConsumeOptions): Promise<void> {
    this.starting ??= this.presence.start();
    await this.starting;
    const { concurrency, onStop } = options;
    if (onStop) this.listeners.push(onStop);
    const { pool, presence, graphileLogger: logger } = this;
    const deliver = (wakeUp: WakeUp): Promise<void> => this.deliver(topic, wakeUp, consumer);
    const workers = new GraphileTopic({ topic, concurrency, pool, presence, logger, deliver });
    this.topics.set(topic, workers);
    this.lookIn(SHORTEST_PAUSE_MS);
  }

  async check(): Promise<void> {
    await this.reach(this.pool.query('SELECT FROM graphile_worker.jobs LIMIT 1'));
  }

  async depths(): Promise<Readonly<Record<Topic, QueueDepth>>> {
    return this.reach(readDepths(this.pool));
  }

  async stop(limitMs: number): Promise<void> {
    this.isStopping = true;
    for (const listener of this.listeners.splice(0)) listener();
    clearTimeout(this.looking);
    const topics = [...this.topics.values()];
    const stopping = Promise.all(topics.map((topic) => topic.stop()));
    if (await endsWithin(limitMs, stopping)) return;
    this.logger.warn('Consumers are still running; other instances take over their work');
    const names = topics.flatMap(({ workerNames }) => workerNames);
    await endsWithin(CLOSE_LIMIT_MS, releaseWorkers(this.pool, names));
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.isStopping) await this.stop(CLOSE_LIMIT_MS);
    await endsWithin(CLOSE_LIMIT_MS, Promise.all([this.presence.stop(), this.pool.end()]));
  }

  private async deliver(topic: Topic, wakeUp: WakeUp, consumer: Consumer): Promise<void> {
    const { key } = wakeUp;
    const turn = `${topic}:${key}`;
    if (!(await this.takeTurn(turn))) {
      await this.add(topic, wakeUp, { delayMs: TURN_TAKEN_DELAY_MS, slot: `${turn}:again` });
      return;
    }
    let failure: { error: unknown } | undefined;
    try {
      await consumer(key);
    } catch (error) {
      failure = { error };
    }
    await this.presence.release(turn);
    this.turns.delete(turn);
    if (failure) await this.retryLater(topic, wakeUp, failure.error);
  }

  private async takeTurn(turn: string): Promise<boolean> {
    if (this.turns.has(turn)) return false;
    this.turns.add(turn);
    const isTaken = await this.presence.take(turn);
    if (!isTaken) this.turns.delete(turn);
    return isTaken;
  }

  private async retryLater(topic: Topic, { key, failures }: WakeUp, error: unknown): Promise<void> {
    const delayMs = retryDelayMs(failures + 1);
    if (delayMs === undefined) {
      this.logger.error(`The ${topic} wake-up of ${key} is dropped: ${String(error)}`);
      return;
    }
    this.logger.warn(`The ${topic} wake-up of ${key} comes again later: ${String(error)}`);
    const next = { key, failures: failures + 1 };
    await this.add(topic, next, { delayMs, slot: `${topic}:${key}:retry` });
  }

  private async add(topic: Topic, wakeUp: WakeUp, options: AddOptions): Promise<void> {
    await addWakeUp(this.pool, topic, wakeUp, options);
    if (options.delayMs !== undefined) this.lookIn(options.delayMs);
  }

  /** Handles an announcement. Running workers hear it too; a topic without workers is queried here. */
  private hear(): void {
    this.lookIn(this.lookedAtMs + PAUSE_AFTER_LOOK_MS - performance.now());
  }

  /** Schedules the next query, unless an earlier one is scheduled. */
  private lookIn(delayMs: number): void {
    if (this.isStopping || this.topics.size === 0) return;
    const atMs = performance.now() + Math.max(delayMs, SHORTEST_PAUSE_MS);
    if (this.looking && this.nextLookAtMs <= atMs) return;
    clearTimeout(this.looking);
    this.nextLookAtMs = atMs;
    this.looking = setTimeout(() => void this.look(), atMs - performance.now());
  }

  private async look(): Promise<void> {
    this.looking = undefined;
    this.lookedAtMs = performance.now();
    let pauseMs = LOOK_EVERY_MS;
    try {
      if (await isEmpty(this.pool)) pauseMs = QUIET_LOOK_EVERY_MS;
      else pauseMs = await this.lookAtRows();
    } catch {
      // The database is away, which its other users report.
    }
    for (const topic of this.topics.values()) topic.ensureRunning();
    this.lookIn(pauseMs);
  }

  /** @returns milliseconds until the next wake-up is due, at most the regular interval */
  private async lookAtRows(): Promise<number> {
    await this.sweep();
    let pauseMs = LOOK_EVERY_MS;
    for (const { topic, dueInMs } of await readNextDue(this.pool, [...this.topics.keys()])) {
      if (dueInMs <= 0) this.topics.get(topic)?.nudge();
      else pauseMs = Math.min(pauseMs, Math.ceil(dueInMs));
    }
    return pauseMs;
  }

  private async sweep(): Promise<void> {
    if (performance.now() < this.nextSweepAtMs) return;
    this.nextSweepAtMs = performance.now() + SWEEP_EVERY_MS;
    await releaseDeadWorkers(this.pool);
    await removeSpent(this.pool);
  }

  private reach<Result>(work: Promise<Result>): Promise<Result> {
    return within(LIMIT_MS, work, () => {
      throw new Error('The queue gets no answer from its database.');
    });
  }
}

/** Opens a separate pool: workers listen on its connections for as long as they run. */
function openPool(url: string): pg.Pool {
  // Workers hold their connections while they run, which says nothing about the server.
  const pool = new DatabaseSessions().open({
    connectionString: url,
    application_name: 'model-gateway queue',
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECTION_LIMIT_MS,
    options: TIME_LIMITS,
  });
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Logs failures, not every wake-up. */
function graphileLogger(): GraphileLogger {
  const logger = new Logger('WorkQueue');
  return new GraphileLogger(() => (level, message) => {
    const name: string = level;
    if (name === 'error' || name === 'warning') logger.warn(message);
  });
}
