import type { OnApplicationShutdown } from '@nestjs/common';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../platform/queue/fair-queue.js';

/** Highest ratio of another vendor's token count to the count of this vocabulary. */
export const LARGEST_VOCABULARY_FACTOR = 1.25;
/** The vocabulary takes some 60 MB and a quarter of a second to load, so it stays this long when idle. */
const IDLE_MS = 60_000;
/** Time limit of a count, queueing and loading included; a settlement waits for it. */
const TIMEOUT_MS = 3_000;
const MEMORY_LIMIT_MB = 256;
/** Per tenant. */
const MAX_WAITING = 500;

const PROGRAM = new URL('./token-counter.worker.mjs', import.meta.url);

interface CountRequest {
  readonly texts: readonly string[];
  readonly answer: (tokens: number | undefined) => void;
}

/**
 * Counts tokens with a real vocabulary (o200k), in a thread that starts on demand and ends when idle.
 * Other vendors' vocabularies are close enough. Schedules tenants fairly, so that none starves the
 * others' settlements.
 */
export class TokenCounter implements OnApplicationShutdown {
  private worker: Worker | undefined;
  private readonly waiting = new FairQueue<CountRequest>(MAX_WAITING);
  private running: CountRequest | undefined;
  private idle: NodeJS.Timeout | undefined;

  /** @param timeoutMs time limit of a count, queueing and loading included */
  constructor(private readonly timeoutMs = TIMEOUT_MS) {}

  /** Returns the tokens of all texts together; undefined when that takes too long. */
  count(tenantId: string, texts: readonly string[]): Promise<number | undefined> {
    if (texts.length === 0) return Promise.resolve(0);
    return new Promise((resolve) => {
      const request: CountRequest = {
        texts,
        answer: (tokens) => {
          clearTimeout(timer);
          resolve(tokens);
        },
      };
      const timer = setTimeout(() => {
        if (!this.waiting.remove(tenantId, request)) void this.stopWorker();
        request.answer(undefined);
      }, this.timeoutMs);
      if (this.waiting.add(tenantId, request)) this.countNext();
      else request.answer(undefined);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    for (let request = this.waiting.take(); request; request = this.waiting.take()) {
      request.answer(undefined);
    }
    await this.stopWorker();
  }

  private countNext(): void {
    if (this.running) return;
    clearTimeout(this.idle);
    this.running = this.waiting.take();
    if (this.running) {
      this.worker ??= this.startWorker();
      this.worker.postMessage(this.running.texts);
    } else if (this.worker) {
      this.idle = setTimeout(() => void this.stopWorker(), IDLE_MS);
      this.idle.unref();
    }
  }

  private startWorker(): Worker {
    const worker = new Worker(PROGRAM, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
      // Without the main thread's flags, such as a test runner's.
      execArgv: [],
      env: {},
    });
    worker.unref();
    const onLost = (): void => {
      if (this.worker === worker) void this.stopWorker();
    };
    worker.on('message', (tokens: number) => {
      if (this.worker !== worker) return;
      this.running?.answer(tokens);
      this.running = undefined;
      this.countNext();
    });
    worker.on('error', onLost);
    worker.on('exit', onLost);
    return worker;
  }

  /** Ends the thread and fails its current count; the next thread counts the queued texts. */
  private async stopWorker(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    clearTimeout(this.idle);
    this.running?.answer(undefined);
    this.running = undefined;
    await worker?.terminate();
    // Counts with the same deadline have timed out by now.
    this.countNext();
  }
}
