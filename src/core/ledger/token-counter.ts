import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Worker } from 'node:worker_threads';

/** The vocabulary takes some 60 MB and a quarter of a second to load: it stays for so long unused. */
const IDLE_MS = 60_000;
/** A settlement waits no longer for a count; loading included. */
const PATIENCE_MS = 3_000;
const MEMORY_LIMIT_MB = 256;
const MAX_WAITING = 1_000;

const PROGRAM = new URL('./token-counter.worker.mjs', import.meta.url);

interface Count {
  id: number;
  tokens: number;
}

interface Asked {
  resolve(tokens: number | undefined): void;
  timer: NodeJS.Timeout;
}

/**
 * Counts tokens by a real vocabulary (o200k), in a thread of its own that starts when it is needed
 * and ends when it is not. Other vendors' vocabularies are near enough to it.
 */
@Injectable()
export class TokenCounter implements OnApplicationShutdown {
  private worker: Worker | undefined;
  private readonly asked = new Map<number, Asked>();
  private nextId = 0;
  private idle: NodeJS.Timeout | undefined;

  /** Tokens of all texts together; undefined when that takes too long. */
  count(texts: readonly string[]): Promise<number | undefined> {
    if (texts.length === 0) return Promise.resolve(0);
    if (this.asked.size >= MAX_WAITING) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const id = this.nextId++;
      // A thread that is late with one is late with all.
      const timer = setTimeout(() => void this.dismiss(), PATIENCE_MS);
      this.asked.set(id, { resolve, timer });
      clearTimeout(this.idle);
      this.worker ??= this.hire();
      this.worker.postMessage({ id, texts });
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.dismiss();
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
    worker.on('message', ({ id, tokens }: Count) => this.answer(id, tokens));
    worker.on('error', lose);
    worker.on('exit', lose);
    return worker;
  }

  private answer(id: number, tokens: number | undefined): void {
    const asked = this.asked.get(id);
    if (!asked) return;
    this.asked.delete(id);
    clearTimeout(asked.timer);
    asked.resolve(tokens);
    if (this.asked.size > 0) return;
    this.idle = setTimeout(() => void this.dismiss(), IDLE_MS);
    this.idle.unref();
  }

  /** Ends the thread, and all that it has not counted. */
  private async dismiss(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    for (const id of [...this.asked.keys()]) this.answer(id, undefined);
    clearTimeout(this.idle);
    await worker?.terminate();
  }
}
