import { InjectQueue } from '@nestjs/bull';
import { Injectable, Logger } from '@nestjs/common';
import type { Job, JobOptions, Queue } from 'bull';
import { isJsonObject } from '../http/json-body.js';
import { endsWithin, within } from '../time/within.js';
import { BullConnections } from './bull-connections.js';
import { BullKeyLocks } from './bull-key-locks.js';
import {
  WorkQueue,
  type Consumer,
  type ConsumeOptions,
  type QueueDepth,
  type Topic,
  type WakeOptions,
  retryDelayMs,
} from './work-queue.js';

const LIMIT_MS = 2_000;
const INTERRUPT_AFTER_MS = 20;
const ERROR_LINE_EVERY_MS = 10_000;
/** Keys are row ids. */
const MAX_KEY_LENGTH = 200;

/** The stored wake-up; empty when Redis lost it after handing it out. */
interface WakeUp {
  key: string;
  /** How many times in a row the consumer has thrown. */
  failures: number;
}

/** The queue on Redis. */
@Injectable()
export class BullWorkQueue extends WorkQueue {
  readonly kind = 'redis';
  private readonly logger = new Logger('WorkQueue');
  private readonly queues: Readonly<Record<Topic, Queue<WakeUp>>>;
  private readonly turns: BullKeyLocks;
  private readonly consumed = new Set<Topic>();
  /** Called when the stop begins. */
  private readonly listeners: (() => void)[] = [];
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
    this.turns = new BullKeyLocks(connections.commands);
    for (const [topic, queue] of Object.entries(this.queues)) {
      queue.on('error', (error) => this.reportError(topic, error));
      queue.on('failed', (job, error) => this.reportDropped(topic, job, error));
    }
  }

  async wake(topic: Topic, key: string, { delayMs = 0 }: WakeOptions = {}): Promise<void> {
    await this.reach(() =>
      delayMs > 0
        ? this.add(topic, { key, failures: 0 }, { delay: delayMs })
        : this.now(topic, key),
    );
  }

  consume(topic: Topic, consumer: Consumer, options: ConsumeOptions): Promise<void> {
    const { concurrency, onStop } = options;
    if (onStop) this.listeners.push(onStop);
    const work = (job: Job<WakeUp>): Promise<void> => this.deliver(topic, job, consumer);
    void this.process(topic, concurrency, work);
    return Promise.resolve();
  }

  async check(): Promise<void> {
    await this.reach(() => this.connections.commands.ping());
  }

  async depths(): Promise<Readonly<Record<Topic, QueueDepth>>> {
    return this.reach(async () => {
      const [jobs, responses, webhooks, broadcast] = await Promise.all([
        depthOf(this.queues.jobs),
        depthOf(this.queues.responses),
        depthOf(this.queues.webhooks),
        depthOf(this.queues.broadcast),
      ]);
      return { jobs, responses, webhooks, broadcast };
    });
  }

  async stop(limitMs: number): Promise<void> {
    this.isStopping = true;
    for (const listener of this.listeners.splice(0)) listener();
    const closing = Promise.all([...this.consumed].map((topic) => this.queues[topic].close()));
    const interrupt = setTimeout(() => this.connections.interruptBlocking(), INTERRUPT_AFTER_MS);
    if (!(await endsWithin(limitMs, closing))) {
      this.logger.warn('Consumers are still running; other instances take over their work');
    }
    clearTimeout(interrupt);
  }

  /** Runs until the queue is closed, across Redis outages. */
  private async process(
    topic: Topic,
    concurrency: number,
    work: (job: Job<WakeUp>) => Promise<void>,
  ): Promise<void> {
    while (!this.isStopping && !(await this.connections.untilReady().then(yes, no)));
    if (this.isStopping) return;
    this.consumed.add(topic);
    await this.queues[topic].process(concurrency, work).catch((error: unknown) => {
      if (!this.isStopping) this.logger.error(`The topic ${topic} stopped: ${String(error)}`);
    });
  }

  private async deliver(topic: Topic, job: Job<WakeUp>, consumer: Consumer): Promise<void> {
    const { key, failures } = readWakeUp(job.data);
    if (key === '') return;
    const id = String(job.id);
    if (!(await this.turns.begin(topic, key, id))) return;
    let failure: { error: unknown } | undefined;
    try {
      await consumer(key);
    } catch (error) {
      failure = { error };
    }
    const isWokenAgain = await this.turns.end(topic, key, id);
    // Errors from here on come from Redis, and the whole wake-up is delivered again.
    if (isWokenAgain) await this.now(topic, key);
    if (failure) await this.retryLater(topic, { key, failures: failures + 1 }, failure.error);
  }

  private async now(topic: Topic, key: string): Promise<void> {
    const jobId = await this.turns.ask(topic, key);
    if (jobId !== undefined) await this.add(topic, { key, failures: 0 }, { jobId });
  }

  private async retryLater(topic: Topic, wakeUp: WakeUp, error: unknown): Promise<void> {
    const { key, failures } = wakeUp;
    const delay = retryDelayMs(failures);
    if (delay === undefined) {
      this.logger.error(`The ${topic} wake-up of ${key} is dropped: ${String(error)}`);
    } else {
      this.logger.warn(`The ${topic} wake-up of ${key} comes again later: ${String(error)}`);
      await this.add(topic, wakeUp, { delay, jobId: `${key}:retry-${failures}` });
    }
  }

  private async add(topic: Topic, wakeUp: WakeUp, options: JobOptions): Promise<void> {
    await this.queues[topic].add(wakeUp, options);
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
    this.logger.warn(`The topic ${topic}: ${error.message}`);
  }

  /** Reports a wake-up whose workers died too often; Bull has removed it and its data. */
  private reportDropped(topic: string, job: Job<WakeUp> | null, error: Error): void {
    if (job && job.attemptsMade < (job.opts.attempts ?? 1)) return;
    const { key } = readWakeUp(job?.data);
    this.logger.error(
      `The ${topic} wake-up of ${key === '' ? 'a key' : key} is dropped: ${error.message}`,
    );
  }
}

/** Returns an empty key for a wake-up that no instance wrote: anyone who can write to Redis can add one. */
function readWakeUp(data: unknown): WakeUp {
  const { key, failures } = isJsonObject(data) ? data : {};
  return {
    key: typeof key === 'string' && key.length <= MAX_KEY_LENGTH ? key : '',
    failures: Number.isSafeInteger(failures) ? Math.max(0, Number(failures)) : 0,
  };
}

const yes = (): boolean => true;
const no = (): boolean => false;

async function depthOf(queue: Queue): Promise<QueueDepth> {
  const { waiting, delayed, active } = await queue.getJobCounts();
  return { waiting, delayed, active };
}
