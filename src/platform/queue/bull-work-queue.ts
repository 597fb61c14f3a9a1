import { InjectQueue } from '@nestjs/bull';
import { Injectable, Logger } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { isJsonObject } from '../http/json-body.js';
import { endsWithin, within } from '../time/within.js';
import { BullConnections } from './bull-connections.js';
import {
  TOPICS,
  WorkQueue,
  type Consumer,
  type Consumers,
  type Topic,
  type WakeOptions,
} from './work-queue.js';

const LIMIT_MS = 2_000;
const STOP_LIMIT_MS = 2_000;
const INTERRUPT_AFTER_MS = 20;
const ERROR_LINE_EVERY_MS = 10_000;
/** Wake-ups of a topic that this process looks up at once. */
const CONCURRENCY = 16;
/** Keys are row ids. */
const MAX_KEY_LENGTH = 200;

/** The stored wake-up; empty when Redis lost it after handing it out. */
interface WakeUp {
  key: string;
}

/** The queue on Redis. */
@Injectable()
export class BullWorkQueue extends WorkQueue {
  readonly kind = 'redis';
  private readonly logger = new Logger('WorkQueue');
  private readonly queues: Readonly<Record<Topic, Queue<WakeUp>>>;
  private readonly consumed = new Set<Topic>();
  private nextErrorLineAtMs = 0;
  private isStopping = false;

  constructor(
    private readonly connections: BullConnections,
    @InjectQueue('jobs') jobs: Queue<WakeUp>,
    @InjectQueue('responses') responses: Queue<WakeUp>,
    @InjectQueue('webhooks') webhooks: Queue<WakeUp>,
    @InjectQueue('broadcast') broadcast: Queue<WakeUp>,
  ) {
    super();
    this.queues = { jobs, responses, webhooks, broadcast };
    for (const [topic, queue] of Object.entries(this.queues)) {
      queue.on('error', (error) => this.reportError(topic, error));
    }
  }

  async wake(topic: Topic, key: string, { delayMs = 0 }: WakeOptions = {}): Promise<void> {
    await this.reach(() => this.queues[topic].add({ key }, { delay: delayMs }));
  }

  consume(consumers: Consumers): Promise<void> {
    for (const topic of TOPICS) {
      const consumer = consumers[topic];
      if (consumer) void this.process(topic, consumer);
    }
    return Promise.resolve();
  }

  async check(): Promise<void> {
    await this.reach(() => this.connections.commands.ping());
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const closing = Promise.all([...this.consumed].map((topic) => this.queues[topic].close()));
    const interrupt = setTimeout(() => this.connections.interruptBlocking(), INTERRUPT_AFTER_MS);
    await endsWithin(STOP_LIMIT_MS, closing);
    clearTimeout(interrupt);
  }

  /** Runs until the queue is closed, across Redis outages. */
  private async process(topic: Topic, consumer: Consumer): Promise<void> {
    while (!this.isStopping && !(await this.connections.untilReady().then(yes, no)));
    if (this.isStopping) return;
    this.consumed.add(topic);
    const deliver = async ({ data }: Job<WakeUp>): Promise<void> => {
      const key = readKey(data);
      if (key !== '') await consumer(key);
    };
    await this.queues[topic].process(CONCURRENCY, deliver).catch((error: unknown) => {
      if (!this.isStopping) this.logger.error(`topic ${topic} stopped: ${String(error)}`);
    });
  }

  /** Issues commands only while Redis is connected, so that they do not pile up here. */
  private async reach<Result>(work: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now();
    await this.connections.untilReady();
    const leftMs = LIMIT_MS - (performance.now() - startedAtMs);
    return within(leftMs, work(), () => {
      throw new Error('The queue gets no answer from Redis.');
    });
  }

  /** The connections report outages themselves; other errors are rare, or come in bursts. */
  private reportError(topic: string, error: Error): void {
    if (this.connections.commands.status !== 'ready') return;
    if (performance.now() < this.nextErrorLineAtMs) return;
    this.nextErrorLineAtMs = performance.now() + ERROR_LINE_EVERY_MS;
    this.logger.warn(`topic ${topic} failed: ${error.message}`);
  }
}

/** Returns an empty key for a wake-up that no instance wrote: anyone who can write to Redis can add one. */
function readKey(data: unknown): string {
  const { key } = isJsonObject(data) ? data : {};
  return typeof key === 'string' && key.length <= MAX_KEY_LENGTH ? key : '';
}

const yes = (): boolean => true;
const no = (): boolean => false;
