import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { draftSpans } from '../tracing/draft-spans.js';
import type { RecordedTrace } from '../tracing/recorded-trace.js';
import type { TraceInterest, TraceSink, TraceSubject } from '../tracing/trace-sink.js';
import { TracingService } from '../tracing/tracing.service.js';
import {
  MAX_BATCH_AGE_MS,
  MAX_BUFFERED_BYTES,
  MAX_BUFFERED_TRACES,
  MAX_UNDECIDED_TRACES,
} from './broadcast-limits.js';
import { BroadcastMetrics } from './broadcast-metrics.js';
import { DeliveryWriter } from './delivery-writer.service.js';
import { DestinationDirectory } from './destination-directory.service.js';
import type { DestinationChoice } from './destination.js';
import { isSampled } from './is-sampled.js';
import { LostTraces } from './lost-traces.service.js';
import { TraceBatch } from './trace-batch.js';

/** How long a stop waits for what is in memory to be written down. */
const FLUSH_LIMIT_MS = 3_000;

/**
 * Takes the traces of requests that opted in, when their answers have left, and gathers them for
 * the destinations. What it holds is bounded; what does not fit is dropped, and counted.
 */
@Injectable()
export class TraceBuffer implements TraceSink, OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(TraceBuffer.name);
  private readonly batches = new Map<string, TraceBatch>();
  private readonly undecided = new Set<Promise<void>>();
  private bufferedTraces = 0;
  private bufferedBytes = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly tracing: TracingService,
    private readonly directory: DestinationDirectory,
    private readonly writer: DeliveryWriter,
    private readonly lost: LostTraces,
    private readonly metrics: BroadcastMetrics,
  ) {}

  onModuleInit(): void {
    this.tracing.addSink(this);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.undecided);
    this.flush(Infinity);
    await this.writer.drain(FLUSH_LIMIT_MS);
  }

  interestIn({ tenantId, isBroadcast }: TraceSubject): TraceInterest {
    if (!isBroadcast) return 'none';
    const destinations = this.directory.peek(tenantId);
    // As long as it is not known where the trace goes, all of it may be wanted.
    if (!destinations) return 'content';
    if (destinations.length === 0) return 'none';
    return destinations.some(({ includesContent }) => includesContent) ? 'content' : 'figures';
  }

  accept(trace: RecordedTrace): void {
    const destinations = this.directory.of(trace.tenantId);
    if (!(destinations instanceof Promise)) {
      this.take(trace, destinations);
      return;
    }
    if (this.undecided.size >= MAX_UNDECIDED_TRACES) {
      this.metrics.countDropped('undecided', 1);
      return;
    }
    const decision: Promise<void> = destinations
      .then((found) => this.take(trace, found))
      .catch((error: unknown) => {
        this.metrics.countDropped('undecided', 1);
        this.logger.warn(`A trace found no destination: ${(error as Error).message}`);
      })
      .finally(() => this.undecided.delete(decision));
    this.undecided.add(decision);
  }

  private take(trace: RecordedTrace, destinations: readonly DestinationChoice[]): void {
    const takers = destinations.filter(({ samplingRate }) =>
      isSampled(trace.context.traceId, samplingRate),
    );
    for (const includeContent of [true, false]) {
      const ids: string[] = [];
      for (const { id, includesContent } of takers) {
        if (includesContent !== includeContent) continue;
        if (!this.hasRoom) this.lost.count(id, 1, 'buffer_full');
        else if (this.writer.isFull(id)) this.lost.count(id, 1, 'queue_full');
        else ids.push(id);
      }
      if (ids.length === 0) continue;
      const batch = this.batchFor(ids, includeContent);
      this.bufferedBytes += batch.add(draftSpans(trace, { audience: 'tenant', includeContent }));
      this.bufferedTraces++;
      if (batch.isFull) this.send(batch);
    }
  }

  private get hasRoom(): boolean {
    return this.bufferedTraces < MAX_BUFFERED_TRACES && this.bufferedBytes < MAX_BUFFERED_BYTES;
  }

  private batchFor(destinationIds: readonly string[], includeContent: boolean): TraceBatch {
    const key = `${includeContent}/${destinationIds.join()}`;
    let batch = this.batches.get(key);
    if (!batch) {
      batch = new TraceBatch(key, destinationIds);
      this.batches.set(key, batch);
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.flush(performance.now() - MAX_BATCH_AGE_MS);
      }, MAX_BATCH_AGE_MS).unref();
    }
    return batch;
  }

  /** Sends batches that began before a moment on the clock of `performance.now()`. */
  private flush(beforeMs: number): void {
    let youngest: TraceBatch | undefined;
    for (const batch of this.batches.values()) {
      // Batches stand in the order in which they began. A timer may be early by a millisecond.
      if (batch.startedAtMs <= beforeMs + 1) this.send(batch);
      else youngest ??= batch;
    }
    if (!youngest) return;
    const restMs = Math.max(1, youngest.startedAtMs - beforeMs);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush(performance.now() - MAX_BATCH_AGE_MS);
    }, restMs).unref();
  }

  private send(batch: TraceBatch): void {
    this.batches.delete(batch.key);
    void this.writer.write(batch).finally(() => {
      this.bufferedTraces -= batch.traceCount;
      this.bufferedBytes -= batch.bytes;
    });
  }
}
