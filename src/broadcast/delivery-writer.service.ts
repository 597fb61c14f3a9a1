import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Injectable, Logger } from '@nestjs/common';
import { WorkQueue } from '../queue/work-queue.js';
import { MAX_POSTS_PER_DESTINATION } from './broadcast-limits.js';
import { BroadcastMetrics } from './broadcast-metrics.js';
import { DeliveryRepository, type WrittenDelivery } from './delivery.repository.js';
import { LostTraces } from './lost-traces.service.js';
import type { TraceBatch } from './trace-batch.js';

const compress = promisify(gzip);

/** Tried again after these; then the batch is lost, and counted. */
const RETRIES_AFTER_MS = [500, 1_000, 2_000];

/** A destination that had no room is asked again after so long. */
const FULL_FOR_MS = 5_000;

/** Writes batches down as deliveries, one after the other, and wakes a worker for each. */
@Injectable()
export class DeliveryWriter {
  private readonly logger = new Logger(DeliveryWriter.name);
  private tail: Promise<void> = Promise.resolve();
  /** Until when, on the clock of `performance.now()`. */
  private readonly fullUntilMs = new Map<string, number>();
  private isStopping = false;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly queue: WorkQueue,
    private readonly metrics: BroadcastMetrics,
    private readonly lost: LostTraces,
  ) {}

  /** Whether a destination had no room a moment ago, so that its traces need not be put together. */
  isFull(destinationId: string): boolean {
    const untilMs = this.fullUntilMs.get(destinationId);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.fullUntilMs.delete(destinationId);
    return false;
  }

  /** Never rejects: a batch that cannot be written is counted. */
  write(batch: TraceBatch): Promise<void> {
    // One at a time: requests need the database's connections more.
    this.tail = this.tail.then(() => this.writeNext(batch));
    return this.tail;
  }

  /** Waits, for a bounded time, until all is written. */
  async drain(limitMs: number): Promise<void> {
    this.isStopping = true;
    const written = this.tail.then(() => this.lost.write());
    await Promise.race([written, wait(limitMs, undefined, { ref: false })]);
  }

  private async writeNext(batch: TraceBatch): Promise<void> {
    const { traceCount, destinationIds } = batch;
    const batchId = randomUUID();
    const recipients = destinationIds.map((destinationId) => ({ id: randomUUID(), destinationId }));
    for (let attempt = 0; ; attempt++) {
      try {
        // Its names repeat, so that a tenth of it goes through the database beside the ledger.
        const body = await compress(batch.serialize(), { level: 1 });
        const draft = { id: batchId, body, traceCount, recipients };
        const written = await this.deliveries.insert(draft);
        for (const each of written) this.goOnWith(each, traceCount);
        const gone = recipients.length - written.length;
        if (gone > 0) this.metrics.countDropped('disabled', gone * traceCount);
        return;
      } catch (error) {
        this.logger.warn(`Traces could not be written down: ${(error as Error).message}`);
        const delayMs = RETRIES_AFTER_MS[attempt];
        if (delayMs === undefined || this.isStopping) break;
        await wait(delayMs, undefined, { ref: false });
      }
    }
    for (const id of destinationIds) this.lost.count(id, traceCount, 'storage');
  }

  private goOnWith({ id, destinationId, isWritten, dueBefore }: WrittenDelivery, traces: number) {
    if (!isWritten) {
      this.metrics.countDropped('queue_full', traces);
      this.fullUntilMs.set(destinationId, performance.now() + FULL_FOR_MS);
    }
    // Where so many are due, somebody is at work on them, who finds this one too.
    else if (dueBefore < MAX_POSTS_PER_DESTINATION) this.wake(id);
  }

  /** Nobody waits for it: should the queue be away, the sweep finds the delivery. */
  private wake(id: string): void {
    this.queue.wake('broadcast', id).catch((error: unknown) => {
      this.logger.warn(`No worker was woken for traces: ${(error as Error).message}`);
    });
  }
}
