import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { BroadcastMetrics } from './broadcast-metrics.js';
import {
  DeliveryRepository,
  type BatchDraft,
  type WrittenDelivery,
} from './delivery.repository.js';
import { DeliveryService } from './delivery.service.js';
import { LostTraces } from './lost-traces.service.js';
import { toStored, type TraceBatch } from './trace-batch.js';
import { messageOf } from '../../platform/errors/thrown.js';

/** Tried again after these; then the batches are lost, and counted. */
const RETRIES_AFTER_MS = [500, 1_000, 2_000];

/** A destination that had no room is asked again after so long. */
const FULL_FOR_MS = 5_000;

/** What one statement writes, before it is compressed. */
const MAX_BYTES_AT_ONCE = 4 * 1024 * 1024;

interface Waiting {
  readonly batch: TraceBatch;
  readonly onDone: () => void;
}

/**
 * Writes batches down as deliveries, whatever waits together in one statement, and has them made.
 * One statement at a time: requests need the database's connections more.
 */
@Injectable()
export class DeliveryWriter {
  private readonly logger = new Logger(DeliveryWriter.name);
  private readonly waiting: Waiting[] = [];
  private running: Promise<void> | undefined;
  /** Until when, on the clock of `performance.now()`. */
  private readonly fullUntilMs = new Map<string, number>();
  private isStopping = false;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly service: DeliveryService,
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
    return new Promise((resolve) => {
      this.waiting.push({ batch, onDone: resolve });
      this.running ??= this.run();
    });
  }

  /** Writes all that waits; from now on nothing is tried again. */
  async drain(): Promise<void> {
    this.isStopping = true;
    while (this.running) await this.running;
    await this.lost.write();
  }

  private async run(): Promise<void> {
    // Whatever else is handed over in this turn goes along.
    await Promise.resolve();
    for (let next = this.takeNext(); next.length > 0; next = this.takeNext()) {
      await this.writeTogether(next.map(({ batch }) => batch));
      for (const { onDone } of next) onDone();
    }
    this.running = undefined;
  }

  private takeNext(): Waiting[] {
    let bytes = 0;
    const end = this.waiting.findIndex(({ batch }, index) => {
      bytes += batch.bytes;
      return index > 0 && bytes > MAX_BYTES_AT_ONCE;
    });
    return this.waiting.splice(0, end < 0 ? this.waiting.length : end);
  }

  private async writeTogether(batches: readonly TraceBatch[]): Promise<void> {
    let drafts: BatchDraft[] | undefined;
    for (let attempt = 0; ; attempt++) {
      try {
        drafts ??= await Promise.all(batches.map(toDraft));
        this.goOnWith(await this.deliveries.insert(drafts), drafts);
        return;
      } catch (error) {
        this.logger.warn(`Traces could not be written down: ${messageOf(error)}`);
        const delayMs = RETRIES_AFTER_MS[attempt];
        if (delayMs === undefined || this.isStopping) break;
        await wait(delayMs, undefined, { ref: false });
      }
    }
    for (const { destinationIds, traceCount } of batches) {
      for (const id of destinationIds) this.lost.count(id, traceCount, 'storage');
    }
  }

  private goOnWith(written: readonly WrittenDelivery[], drafts: readonly BatchDraft[]): void {
    const outcomes = new Map(written.map((each) => [each.id, each]));
    for (const { traceCount, recipients } of drafts) {
      for (const { id, destinationId } of recipients) {
        const outcome = outcomes.get(id);
        if (!outcome) this.metrics.countDropped('disabled', traceCount);
        else if (outcome.isWritten) this.service.deliver(outcome);
        else {
          this.lost.count(destinationId, traceCount, 'queue_full');
          this.fullUntilMs.set(destinationId, performance.now() + FULL_FOR_MS);
        }
      }
    }
  }
}

async function toDraft(batch: TraceBatch): Promise<BatchDraft> {
  return {
    id: randomUUID(),
    body: await toStored(batch.serialize()),
    traceCount: batch.traceCount,
    recipients: batch.destinationIds.map((destinationId) => ({ id: randomUUID(), destinationId })),
  };
}
