import { EventEmitter } from 'node:events';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  Logger as GraphileLogger,
  makeWorkerUtils,
  runTaskList,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker';
import type pg from 'pg';
import { TIME_LIMITS } from '../database/database-options.js';
import { DatabaseSessions } from '../database/sessions.js';
import { isJsonObject } from '../http/json-body.js';
import { endsWithin, within } from '../time/within.js';
import { TOPICS, WorkQueue, type Consumers, type Topic, type WakeOptions } from './work-queue.js';

const LIMIT_MS = 2_000;
const STOP_LIMIT_MS = 2_000;
const RESTART_AFTER_MS = 1_000;
const CONNECTION_LIMIT_MS = 8_000;
/** A connection to listen on, and three for wake-ups. */
const POOL_SIZE = 4;
/** Wake-ups that this process looks up at once. */
const CONCURRENCY = 32;
/** Interval of queries for wake-ups that are due later; those due at once are announced. */
const POLL_EVERY_MS = 2_000;
/** Minimum pause between two queries, plus or minus half, when hundreds of wake-ups arrive per second. */
const PAUSE_MS = 40;
/** After this long, wake-ups that were fetched and wait for a worker go back to other instances. */
const GIVE_BACK_AFTER_MS = 5_000;

/** The queue on the service's database. */
export class GraphileWorkQueue extends WorkQueue implements OnModuleInit, OnApplicationShutdown {
  readonly kind = 'database';
  private readonly logger = graphileLogger();
  private readonly pool: pg.Pool;
  private tasks: TaskList = {};
  private workers: WorkerPool | undefined;
  private restarting: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(url: string) {
    super();
    this.pool = openPool(url);
  }

  /** Creates or updates the schema, and removes wake-ups that died with their process. */
  async onModuleInit(): Promise<void> {
    const utils = await makeWorkerUtils({ pgPool: this.pool, logger: this.logger });
    try {
      await utils.migrate();
      await utils.cleanup({ tasks: ['DELETE_PERMAFAILED_JOBS'] });
    } finally {
      await utils.release();
    }
  }

  /** Wake-ups of a waiting key are merged, except delayed ones. */
  async wake(topic: Topic, key: string, { delayMs = 0 }: WakeOptions = {}): Promise<void> {
    const slot = delayMs > 0 ? null : `${topic}:${key}`;
    await this.reach(
      this.pool.query(
        `SELECT FROM graphile_worker.add_job($1::text, payload := $2::json, job_key := $3::text,
           run_at := now() + $4 * interval '1 millisecond', max_attempts := 1)`,
        [topic, JSON.stringify({ key }), slot, delayMs],
      ),
    );
  }

  consume(consumers: Consumers): Promise<void> {
    for (const topic of TOPICS) {
      const consumer = consumers[topic];
      if (consumer) this.tasks[topic] = (payload) => consumer(readKey(payload));
    }
    if (Object.keys(this.tasks).length > 0) this.start();
    return Promise.resolve();
  }

  async check(): Promise<void> {
    await this.reach(this.pool.query('SELECT'));
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restarting);
    const { workers } = this;
    if (!workers) return;
    // In a database outage the workers may never report their end.
    const ending = Promise.resolve(workers.gracefulShutdown()).then(() => workers.promise);
    await endsWithin(STOP_LIMIT_MS, ending);
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.isStopping) await this.stop();
    await endsWithin(STOP_LIMIT_MS, this.pool.end());
  }

  private start(): void {
    const events: WorkerEvents = new EventEmitter();
    const workers = runTaskList(
      {
        concurrency: CONCURRENCY,
        events,
        logger: this.logger,
        noHandleSignals: true,
        pollInterval: POLL_EVERY_MS,
        preset: {
          worker: {
            localQueue: {
              size: CONCURRENCY,
              ttl: GIVE_BACK_AFTER_MS,
              refetchDelay: { durationMs: PAUSE_MS, threshold: CONCURRENCY },
            },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
      },
      this.tasks,
      this.pool,
    );
    this.workers = workers;
    workers.promise.catch(() => undefined);
    // Announcements during the pause would otherwise wait for the next poll.
    let isAnnounced = false;
    events.on('pool:listen:notification', () => (isAnnounced = true));
    events.on('localQueue:refetchDelay:expired', () => {
      if (isAnnounced) workers.nudge(1);
      isAnnounced = false;
    });
    // Workers that cannot record their results give up, as in a database outage.
    events.once('pool:gracefulShutdown', () => this.restart());
  }

  private restart(): void {
    if (this.isStopping) return;
    this.restarting = setTimeout(() => this.start(), RESTART_AFTER_MS);
  }

  private reach<Result>(work: Promise<Result>): Promise<Result> {
    return within(LIMIT_MS, work, () => {
      throw new Error('The queue gets no answer from its database.');
    });
  }
}

function readKey(payload: unknown): string {
  return isJsonObject(payload) ? String(payload.key) : '';
}

/** Opens a separate pool: workers listen on one of its connections. */
function openPool(url: string): pg.Pool {
  // The workers' connections say nothing about the server's health.
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
