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

/** Retry delays, after which batches are dropped and counted. */
const RETRIES_AFTER_MS = [500, 1_000, 2_000];

/** How long a full destination is skipped. */
const FULL_FOR_MS = 5_000;

/** Bytes per statement before compression. */
const MAX_BYTES_AT_ONCE = 4 * 1024 * 1024;

interface Waiting {
  readonly batch: TraceBatch;
  readonly onDone: () => void;
}

/**
 * Stores waiting batches as deliveries in one statement and starts them. Runs one statement at a
 * time, to leave database connections to requests.
 */
@Injectable()
export class DeliveryWriter {
  private readonly logger = new Logger(DeliveryWriter.name);
  private readonly waiting: Waiting[] = [];
  private running: Promise<void> | undefined;
  /** Deadline in `performance.now()` time. */
  private readonly fullUntilMs = new Map<string, number>();
  private isStopping = false;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly service: DeliveryService,
    private readonly metrics: BroadcastMetrics,
    private readonly lost: LostTraces,
  ) {}

  /** Returns whether a destination was recently full, so that its traces need no rendering. */
  isFull(destinationId: string): boolean {
    const untilMs = this.fullUntilMs.get(destinationId);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.fullUntilMs.delete(destinationId);
    return false;
  }

  /** Never rejects. Batches that cannot be stored are counted as dropped. */
  write(batch: TraceBatch): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ batch, onDone: resolve });
      this.running ??= this.run();
    });
  }

  /** Stores everything that is waiting. Retries nothing from now on. */
  async drain(): Promise<void> {
    this.isStopping = true;
    while (this.running) await this.running;
    await this.lost.write();
  }

  private async run(): Promise<void> {
    // Collects batches that arrive in the same tick.
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
        this.logger.warn(`traces not stored: ${messageOf(error)}`);
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
