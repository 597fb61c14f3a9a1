import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Injectable, Logger } from '@nestjs/common';
import { WorkQueue } from '../queue/work-queue.js';
import { BroadcastMetrics, type DropReason } from './broadcast-metrics.js';
import { DeliveryRepository } from './delivery.repository.js';
import type { TraceBatch } from './trace-batch.js';

const compress = promisify(gzip);

/** Tried again after these; then the batch is lost, and counted. */
const RETRIES_AFTER_MS = [500, 1_000, 2_000];

/** What the tenant is told of traces that never became a delivery. */
const LOST_IN_GATEWAY = 'the gateway had no room for more traces';

/** Writes batches down as deliveries, one after the other, and wakes a worker for each. */
@Injectable()
export class DeliveryWriter {
  private readonly logger = new Logger(DeliveryWriter.name);
  private tail: Promise<void> = Promise.resolve();
  /** Traces lost before they were written down, by destination, until that is written down. */
  private readonly lost = new Map<string, number>();
  private isStopping = false;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly queue: WorkQueue,
    private readonly metrics: BroadcastMetrics,
  ) {}

  /** Never rejects: a batch that cannot be written is counted. */
  write(batch: TraceBatch): Promise<void> {
    // One at a time: requests need the database's connections more.
    this.tail = this.tail.then(() => this.writeNext(batch));
    return this.tail;
  }

  /** Counts traces of a destination that were dropped in this process. */
  countLost(destinationId: string, traces: number, reason: DropReason): void {
    this.metrics.countDropped(reason, traces);
    const isFirst = this.lost.size === 0;
    this.lost.set(destinationId, (this.lost.get(destinationId) ?? 0) + traces);
    if (isFirst) this.tail = this.tail.then(() => this.writeLost());
  }

  /** Waits, for a bounded time, until all is written. */
  async drain(limitMs: number): Promise<void> {
    this.isStopping = true;
    await Promise.race([this.tail, wait(limitMs, undefined, { ref: false })]);
  }

  private async writeNext(batch: TraceBatch): Promise<void> {
    const id = randomUUID();
    const { destinationId, traceCount } = batch;
    for (let attempt = 0; ; attempt++) {
      try {
        // Its names repeat, so that a tenth of it goes through the database beside the ledger.
        const body = await compress(batch.serialize(), { level: 1 });
        const isWritten = await this.deliveries.insert({ id, destinationId, body, traceCount });
        if (isWritten) this.wake(id);
        else this.metrics.countDropped('queue_full', traceCount);
        if (this.lost.size > 0) await this.writeLost();
        return;
      } catch (error) {
        this.logger.warn(`Traces could not be written down: ${(error as Error).message}`);
        const delayMs = RETRIES_AFTER_MS[attempt];
        if (delayMs === undefined || this.isStopping) break;
        await wait(delayMs, undefined, { ref: false });
      }
    }
    this.metrics.countDropped('storage', traceCount);
    this.lost.set(destinationId, (this.lost.get(destinationId) ?? 0) + traceCount);
  }

  /** What cannot be written now is written with the next batch. */
  private async writeLost(): Promise<void> {
    for (const [destinationId, traces] of [...this.lost]) {
      try {
        await this.deliveries.countDropped(destinationId, traces, LOST_IN_GATEWAY);
      } catch {
        return;
      }
      const rest = (this.lost.get(destinationId) ?? 0) - traces;
      if (rest > 0) this.lost.set(destinationId, rest);
      else this.lost.delete(destinationId);
    }
  }

  /** Nobody waits for it: should the queue be away, the sweep finds the delivery. */
  private wake(id: string): void {
    this.queue.wake('broadcast', id).catch((error: unknown) => {
      this.logger.warn(`No worker was woken for traces: ${(error as Error).message}`);
    });
  }
}
