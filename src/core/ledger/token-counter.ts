import type { OnApplicationShutdown } from '@nestjs/common';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../platform/queue/fair-queue.js';

/** So many times as many tokens may another vendor's vocabulary make of a text as the one that counts here. */
export const LARGEST_VOCABULARY_FACTOR = 1.25;
/** The vocabulary takes some 60 MB and a quarter of a second to load: it stays for so long unused. */
const IDLE_MS = 60_000;
/** A settlement waits no longer for a count, the turns of others and loading included. */
const PATIENCE_MS = 3_000;
const MEMORY_LIMIT_MB = 256;
/** Of one tenant. */
const MAX_WAITING = 500;

const PROGRAM = new URL('./token-counter.worker.mjs', import.meta.url);

interface CountRequest {
  readonly texts: readonly string[];
  readonly answer: (tokens: number | undefined) => void;
}

/**
 * Counts tokens by a real vocabulary (o200k), in a thread of its own that starts when it is needed
 * and ends when it is not. Other vendors' vocabularies are near enough to it. Tenants take turns, so that none
 * has others' settlements go without.
 */
export class TokenCounter implements OnApplicationShutdown {
  private worker: Worker | undefined;
  private readonly waiting = new FairQueue<CountRequest>(MAX_WAITING);
  private atWork: CountRequest | undefined;
  private idle: NodeJS.Timeout | undefined;

  /** @param patienceMs how long a count may take, waiting and loading included */
  constructor(private readonly patienceMs = PATIENCE_MS) {}

  /** Tokens of all texts together; undefined when that takes too long. @param tenantId whose they are */
  count(tenantId: string, texts: readonly string[]): Promise<number | undefined> {
    if (texts.length === 0) return Promise.resolve(0);
    return new Promise((resolve) => {
      const asked: CountRequest = {
        texts,
        answer: (tokens) => {
          clearTimeout(timer);
          resolve(tokens);
        },
      };
      const timer = setTimeout(() => {
        if (!this.waiting.remove(tenantId, asked)) void this.dismiss();
        asked.answer(undefined);
      }, this.patienceMs);
      if (this.waiting.add(tenantId, asked)) this.proceed();
      else asked.answer(undefined);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    for (let asked = this.waiting.take(); asked; asked = this.waiting.take()) {
      asked.answer(undefined);
    }
    await this.dismiss();
  }

  private proceed(): void {
    if (this.atWork) return;
    clearTimeout(this.idle);
    this.atWork = this.waiting.take();
    if (this.atWork) {
      this.worker ??= this.hire();
      this.worker.postMessage(this.atWork.texts);
    } else if (this.worker) {
      this.idle = setTimeout(() => void this.dismiss(), IDLE_MS);
      this.idle.unref();
    }
  }

  private hire(): Worker {
    const worker = new Worker(PROGRAM, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
      // Flags of the main thread, such as those of a test runner, are not for it.
      execArgv: [],
      env: {},
    });
    worker.unref();
    const lose = (): void => {
      if (this.worker === worker) void this.dismiss();
    };
    worker.on('message', (tokens: number) => {
      if (this.worker !== worker) return;
      this.atWork?.answer(tokens);
      this.atWork = undefined;
      this.proceed();
    });
    worker.on('error', lose);
    worker.on('exit', lose);
    return worker;
  }

  /** Ends the thread, with what it is counting; what waits is counted by the next one. */
  private async dismiss(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    clearTimeout(this.idle);
    this.atWork?.answer(undefined);
    this.atWork = undefined;
    await worker?.terminate();
    // By now what came at the same time is late as well.
    this.proceed();
  }
}
