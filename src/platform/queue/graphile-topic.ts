import { setTimeout as pause } from 'node:timers/promises';
import { runTaskList, type Logger, type WorkerPool } from 'graphile-worker';
import type { Pool } from 'pg';
import type { GraphilePresence } from './graphile-presence.js';
import type { WakeUp } from './graphile-statements.js';
import type { Topic } from './work-queue.js';

/**
 * Milliseconds between two queries for due rows, plus or minus half. At hundreds of wake-ups per second each
 * query takes many, and requests do not wait behind the queue.
 */
const LOOK_AGAIN_AFTER_MS = 40;
/** After this long, wake-ups that were taken and wait for a worker go back to other instances. */
const GIVE_BACK_AFTER_MS = 5_000;
const RESTART_AFTER_MS = 1_000;
/** Poll interval of idle workers: effectively never, since GraphileWorkQueue wakes them. */
const POLL_INTERVAL_MS = 3_600_000;
/**
 * Workers that could not record their results never report their end, although none is busy. This is the time
 * they get for it.
 */
const LAST_NOTES_MS = 1_000;
const LOOK_EVERY_MS = 50;

export interface GraphileTopicOptions {
  readonly topic: Topic;
  readonly concurrency: number;
  readonly pool: Pool;
  readonly presence: GraphilePresence;
  readonly logger: Logger;
  readonly deliver: (wakeUp: WakeUp) => Promise<void>;
}

/**
 * Runs the workers of one topic, started when there is work. One query at a time takes wake-ups for all of
 * them. Workers that give up, as in a database outage, are replaced.
 */
export class GraphileTopic {
  private readonly running = new Set<WorkerPool>();
  /** Since when none of them is busy, on the clock of `performance.now()`. */
  private readonly doneSinceMs = new WeakMap<WorkerPool, number>();
  private restarting: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(private readonly options: GraphileTopicOptions) {}

  /** The names under which these workers take rows. */
  get workerNames(): string[] {
    return [...this.running].map(({ id }) => id);
  }

  private start(): void {
    const { topic, concurrency, pool, logger, deliver } = this.options;
    const workers = runTaskList(
      {
        concurrency,
        logger,
        noHandleSignals: true,
        pollInterval: POLL_INTERVAL_MS,
        preset: {
          worker: {
            localQueue: {
              size: concurrency,
              ttl: GIVE_BACK_AFTER_MS,
              refetchDelay: { durationMs: LOOK_AGAIN_AFTER_MS, threshold: concurrency },
            },
            // Results are awaited when the workers stop.
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
      },
      { [topic]: (payload) => deliver(payload as WakeUp) },
      pool,
    );
    this.running.add(workers);
    void this.announce(workers);
  }

  /** Makes the workers query for due rows. */
  nudge(): void {
    if (this.isStopping) return;
    // New workers query on their own.
    if (this.running.size === 0 && !this.restarting) return this.start();
    for (const workers of this.atWork) workers.nudge(1);
  }

  private get atWork(): WorkerPool[] {
    return [...this.running].filter((workers) => !workers._shuttingDown);
  }

  /** Replaces workers that gave up. */
  ensureRunning(): void {
    for (const workers of this.running) {
      if (this.isSpent(workers)) this.forget(workers);
    }
    if (this.isStopping || this.restarting || this.running.size === 0) return;
    if (this.atWork.length > 0) return;
    this.restarting = setTimeout(() => {
      this.restarting = undefined;
      if (!this.isStopping) this.start();
    }, RESTART_AFTER_MS);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restarting);
    for (const workers of this.atWork)
      Promise.resolve(workers.gracefulShutdown()).catch(() => undefined);
    const ended = Promise.allSettled([...this.running].map(({ promise }) => promise));
    await Promise.race([ended, this.untilSpent()]);
  }

  private async untilSpent(): Promise<void> {
    while (![...this.running].every((workers) => this.isSpent(workers))) await pause(LOOK_EVERY_MS);
  }

  private isSpent(workers: WorkerPool): boolean {
    if (!workers._shuttingDown || workers._workers.length > 0) return false;
    const nowMs = performance.now();
    const sinceMs = this.doneSinceMs.get(workers) ?? nowMs;
    this.doneSinceMs.set(workers, sinceMs);
    return nowMs - sinceMs >= LAST_NOTES_MS;
  }

  /** Releases what the workers took and could not record. */
  private forget(workers: WorkerPool): void {
    if (this.running.delete(workers)) void this.options.presence.release(workers.id);
  }

  private async announce(workers: WorkerPool): Promise<void> {
    await this.options.presence.take(workers.id);
    await workers.promise.catch(() => undefined);
    this.forget(workers);
  }
}
