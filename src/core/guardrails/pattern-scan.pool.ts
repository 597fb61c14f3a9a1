import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Worker } from 'node:worker_threads';
import {
  ScanUnfinishedError,
  type FoundSpans,
  type MeasureJob,
  type MeasuredPatterns,
  type PatternSource,
  type SearchJob,
} from './pattern-scan.js';

interface Task {
  tenantId: string;
  job: SearchJob | MeasureJob;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

const WORKERS = 2;
/** From the start of a search, waiting not included. */
const TIME_LIMIT_MS = 5_000;
const MEMORY_LIMIT_MB = 256;
/** Searches that wait; beyond them a search fails at once rather than fill the memory. */
const MAX_WAITING = 1_000;

const PROGRAM = new URL('./pattern-scan.worker.mjs', import.meta.url);

/**
 * Searches long texts for tenants' patterns in threads of their own, so that no pattern holds up
 * the other requests. A tenant has one thread at a time, so that its patterns do not hold up those
 * of others either; a search that takes too long is ended with its thread.
 */
@Injectable()
export class PatternScanPool implements OnApplicationShutdown {
  private readonly waiting: Task[] = [];
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, { task: Task; timer: NodeJS.Timeout }>();

  /** @throws ScanUnfinishedError */
  search(tenantId: string, job: Omit<SearchJob, 'kind'>): Promise<FoundSpans> {
    return this.run(tenantId, { kind: 'search', ...job });
  }

  /** @throws ScanUnfinishedError */
  measure(tenantId: string, patterns: readonly PatternSource[]): Promise<MeasuredPatterns> {
    return this.run(tenantId, { kind: 'measure', patterns });
  }

  async onApplicationShutdown(): Promise<void> {
    const workers = [...this.idle, ...this.busy.keys()];
    this.idle.length = 0;
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  private run<Answer>(tenantId: string, job: Task['job']): Promise<Answer> {
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.reject(new ScanUnfinishedError('too many searches wait'));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ tenantId, job, resolve, reject });
      this.startNext();
    });
  }

  private startNext(): void {
    if (this.busy.size >= WORKERS) return;
    const tenants = new Set([...this.busy.values()].map(({ task }) => task.tenantId));
    const index = this.waiting.findIndex((task) => !tenants.has(task.tenantId));
    const [task] = index === -1 ? [] : this.waiting.splice(index, 1);
    if (!task) return;
    const worker = this.idle.pop() ?? this.hire();
    const timer = setTimeout(() => {
      this.dismiss(worker, 'the search took too long');
    }, TIME_LIMIT_MS);
    this.busy.set(worker, { task, timer });
    worker.ref();
    worker.postMessage(task.job);
  }

  /** A thread that waits for work does not keep the process alive. */
  private hire(): Worker {
    const worker = makeWorker();
    worker.on('message', (answer: unknown) => {
      const task = this.release(worker);
      if (!task) return;
      worker.unref();
      this.idle.push(worker);
      task.resolve(answer);
      this.startNext();
    });
    worker.on('error', (error: Error) => this.dismiss(worker, error.message));
    worker.on('exit', () => this.dismiss(worker, 'the thread ended'));
    return worker;
  }

  /** Ends a thread, and the task that it is at. */
  private dismiss(worker: Worker, reason: string): void {
    const index = this.idle.indexOf(worker);
    if (index !== -1) this.idle.splice(index, 1);
    const task = this.release(worker);
    if (!task) return;
    void worker.terminate();
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
    // Flags of the main thread, such as those of a test runner, are not for it.
    execArgv: [],
    env: {},
  });
}
