import { Logger } from '@nestjs/common';
import {
  TOPICS,
  WorkQueue,
  type ConsumeOptions,
  type Consumer,
  type QueueDepth,
  type Topic,
  type WakeOptions,
} from './work-queue.js';

/** Wakes workers of this process only, and forgets at its end. */
export class InProcessWorkQueue extends WorkQueue {
  readonly kind = 'database';
  private readonly logger = new Logger(InProcessWorkQueue.name);
  private readonly consumers = new Map<Topic, Consumer>();
  private readonly running = new Set<Promise<void>>();
  private isStopped = false;

  wake(topic: Topic, key: string, { delayMs = 0 }: WakeOptions = {}): Promise<void> {
    setTimeout(() => {
      const consumer = this.consumers.get(topic);
      if (!consumer || this.isStopped) return;
      const run: Promise<void> = consumer(key)
        .catch((error: Error) => this.logger.warn(error.message))
        .finally(() => this.running.delete(run));
      this.running.add(run);
    }, delayMs).unref();
    return Promise.resolve();
  }

  consume(topic: Topic, consumer: Consumer, _options: ConsumeOptions): Promise<void> {
    this.consumers.set(topic, consumer);
    return Promise.resolve();
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  depths(): Promise<Record<Topic, QueueDepth>> {
    const none = TOPICS.map((topic) => [topic, { waiting: 0, delayed: 0, active: 0 }]);
    return Promise.resolve(Object.fromEntries(none) as Record<Topic, QueueDepth>);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.allSettled(this.running);
  }
}
