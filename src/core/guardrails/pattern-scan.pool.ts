import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Worker } from 'node:worker_threads';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import { FairQueue } from '../../platform/queue/fair-queue.js';
import {
  GuardrailGoneError,
  ScanQueueFullError,
  ScanUnfinishedError,
  type FoundSpans,
  type MeasureJob,
  type MeasuredPatterns,
  type PatternSource,
  type SearchJob,
} from './pattern-scan.js';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';

/** A search takes at most 5 s, usually far less. */
const RETRY_SECONDS = 5;

/** The context of a search. */
interface SearchPurpose {
  /** Removing this guardrail ends the search. */
  guardrailId?: string;
  /** Aborted when the caller disconnects. */
  signal?: CancelSignal | undefined;
}

interface Task {
  tenantId: string;
  guardrailId: string | undefined;
  job: SearchJob | MeasureJob;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

const WORKERS = 2;
/** From the start of a search, without queueing. */
const TIME_LIMIT_MS = 5_000;
const MEMORY_LIMIT_MB = 256;
/** Queue limit; beyond it a search fails at once, to bound memory. */
const MAX_WAITING = 1_000;
const MAX_WAITING_PER_TENANT = 100;
/** Time for a cancelled search to end on its own, which is cheaper than a new thread. */
const CANCEL_GRACE_MS = 250;

const PROGRAM = new URL('./pattern-scan.worker.mjs', import.meta.url);

/**
 * Searches long texts for tenants' patterns in worker threads, so that no pattern delays other
 * requests. Each tenant uses one thread at a time, and tenants are scheduled fairly. A search that
 * takes too long is ended together with its thread.
 */
@Injectable()
export class PatternScanPool implements OnApplicationShutdown {
  private readonly waiting = new FairQueue<Task>(MAX_WAITING_PER_TENANT);
  private readonly idle: Worker[] = [];
  /** Latest tenant of each thread, whose patterns it has compiled. */
  private readonly lastTenants = new WeakMap<Worker, string>();
  private isClosed = false;
  private readonly busy = new Map<Worker, { task: Task; timer: NodeJS.Timeout }>();

  /**
   * @throws ScanUnfinishedError after a timeout or when the caller disconnected; ScanQueueFullError
   * when the queue is full; GuardrailGoneError when the guardrail was removed
   */
  search(
    tenantId: string,
    job: Omit<SearchJob, 'kind'>,
    purpose?: SearchPurpose,
  ): Promise<FoundSpans> {
    return this.run(tenantId, { kind: 'search', ...job }, purpose);
  }

  /**
   * @throws ScanUnfinishedError, ScanQueueFullError
   */
  measure(tenantId: string, patterns: readonly PatternSource[]): Promise<MeasuredPatterns> {
    return this.run(tenantId, { kind: 'measure', patterns });
  }

  /** Returns whether the tenant has queued or running searches. */
  isBusyFor(tenantId: string): boolean {
    return this.tasksOf(tenantId).length > 0;
  }

  /** Ends the tenant's searches for guardrails not listed. */
  keepOnly(tenantId: string, guardrailIds: ReadonlySet<string>): void {
    for (const task of this.tasksOf(tenantId)) {
      if (task.guardrailId === undefined || guardrailIds.has(task.guardrailId)) continue;
      this.cancel(task, new GuardrailGoneError('the guardrail is gone'));
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const workers = [...this.idle, ...this.busy.keys()];
    this.idle.length = 0;
    this.isClosed = true;
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  private run<Answer>(
    tenantId: string,
    job: Task['job'],
    { guardrailId, signal }: SearchPurpose = {},
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const task: Task = {
        tenantId,
        guardrailId,
        job,
        resolve: (answer) => {
          signal?.removeEventListener('abort', leave);
          resolve(answer as Answer);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', leave);
          reject(error);
        },
      };
      const leave = (): void => this.cancel(task, new ScanUnfinishedError('the caller has left'));
      if (signal?.aborted) return leave();
      const isFull = this.waiting.size >= MAX_WAITING;
      if (isFull || !this.waiting.add(tenantId, task)) return reject(new ScanQueueFullError());
      signal?.addEventListener('abort', leave);
      this.startNext();
    });
  }

  /** Drops a queued search at once; a running one gets a grace period. */
  private cancel(task: Task, reason: Error): void {
    task.reject(reason);
    if (this.waiting.remove(task.tenantId, task)) return;
    for (const [worker, work] of this.busy) {
      if (work.task !== task) continue;
      clearTimeout(work.timer);
      work.timer = setTimeout(() => this.stopWorker(worker, reason.message), CANCEL_GRACE_MS);
    }
  }

  private tasksOf(tenantId: string): Task[] {
    const running = [...this.busy.values()].map(({ task }) => task);
    return [...running.filter((task) => task.tenantId === tenantId), ...this.waiting.of(tenantId)];
  }

  private startNext(): void {
    if (this.busy.size >= WORKERS) return;
    const tenants = new Set([...this.busy.values()].map(({ task }) => task.tenantId));
    const task = this.waiting.take((tenantId) => !tenants.has(tenantId));
    if (!task) return;
    const worker = this.takeIdle(task.tenantId) ?? this.startWorker();
    this.lastTenants.set(worker, task.tenantId);
    const timer = setTimeout(() => {
      this.stopWorker(worker, 'the search took too long');
    }, TIME_LIMIT_MS);
    this.busy.set(worker, { task, timer });
    worker.ref();
    worker.postMessage(task.job);
  }

  /**
   * Returns the tenant's own thread, else an unused one; another tenant's only at the thread limit.
   */
  private takeIdle(tenantId: string): Worker | undefined {
    const lastTenants = this.idle.map((worker) => this.lastTenants.get(worker));
    const own = lastTenants.indexOf(tenantId);
    const index = own !== -1 ? own : lastTenants.indexOf(undefined);
    if (index !== -1) return this.idle.splice(index, 1)[0];
    return this.idle.length + this.busy.size < WORKERS ? undefined : this.idle.shift();
  }

  /** An idle thread does not keep the process alive. */
  private startWorker(): Worker {
    const worker = makeWorker();
    worker.unref();
    worker.on('message', (answer: unknown) => {
      const task = this.release(worker);
      if (!task) return;
      worker.unref();
      this.idle.push(worker);
      task.resolve(answer);
      this.startNext();
    });
    worker.on('error', (error: Error) => this.stopWorker(worker, error.message));
    worker.on('exit', () => this.stopWorker(worker, 'the thread ended'));
    return worker;
  }

  /** Ends a thread and its task. */
  private stopWorker(worker: Worker, reason: string): void {
    const index = this.idle.indexOf(worker);
    if (index !== -1) this.idle.splice(index, 1);
    const task = this.release(worker);
    if (!task) return;
    void worker.terminate();
    // Started now, so that the next task does not wait for it.
    if (!this.isClosed) this.idle.push(this.startWorker());
    task.reject(new ScanUnfinishedError(reason));
    this.startNext();
  }

  private release(worker: Worker): Task | undefined {
    const work = this.busy.get(worker);
    if (!work) return undefined;
    clearTimeout(work.timer);
    this.busy.delete(worker);
    return work.task;
  }
}

function makeWorker(): Worker {
  return new Worker(PROGRAM, {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
    // Flags of the main thread, such as a test runner's, are not for workers.
    execArgv: [],
    env: {},
  });
}

/** Returns the error for a tenant with too many queued texts. */
export function tooManyScans(): RateLimitError {
  return new RateLimitError(
    'guardrails',
    'Too many long texts of this account are queued for its guardrails. Try again later, send less text at once, or simplify the patterns.',
    RETRY_SECONDS,
  );
}
