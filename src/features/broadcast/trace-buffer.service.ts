import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { draftSpans } from '../../core/tracing/draft-spans.js';
import { isSampled } from '../../core/tracing/sampling.js';
import type {
  RecordedTrace,
  TraceInterest,
  TraceSink,
  TraceSubject,
} from '../../core/tracing/recorded-trace.js';
import { withoutContent, type SpanDraft } from '../../core/tracing/span-draft.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { GROUP_LIMITS, MAX_UNDECIDED_TRACES, PATIENT_GROUP_LIMITS } from './broadcast-limits.js';
import { BroadcastMetrics } from './broadcast-metrics.js';
import { DeliveryWriter } from './delivery-writer.service.js';
import { DestinationDirectory } from './destination-directory.service.js';
import { isInScope } from '../../core/access/scope.js';
import type { DestinationChoice } from './destination.repository.js';
import { LostTraces } from './lost-traces.service.js';
import { TraceGroup, BufferBudget } from './trace-batch.js';
import { messageOf } from '../../platform/errors/thrown.js';
import { within } from '../../platform/time/within.js';

/** How long shutdown waits for buffered traces to be stored. */
const FLUSH_LIMIT_MS = 3_000;
/** Groups due within this time are stored together. */
const TICK_MS = 100;

/** The fields of a finished request that choosing destinations needs. */
interface FinishedTrace {
  readonly tenantId: string;
  readonly chain: RecordedTrace['chain'];
  readonly traceId: string;
  draft(includeContent: boolean): SpanDraft[];
}

/**
 * Collects traces of opted-in requests after their answers have been sent. Memory is bounded;
 * traces that don't fit are dropped and counted.
 */
@Injectable()
export class TraceBuffer implements TraceSink, OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(TraceBuffer.name);
  private readonly groups = new Map<string, TraceGroup>();
  private readonly undecided = new Set<Promise<void>>();
  private readonly budget = new BufferBudget();
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;

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
    // Lets traces of answers that have just been sent arrive.
    await nextTurn();
    this.isStopping = true;
    await within(FLUSH_LIMIT_MS, this.drain(), () => undefined);
    const left = this.undecided.size + this.budget.total.traces;
    if (left > 0) this.logger.error(`${left} traces not stored before shutdown`);
  }

  interestIn({ tenantId, chain, isBroadcast, context }: TraceSubject): TraceInterest {
    if (!isBroadcast) return 'none';
    const destinations = this.directory.peek(tenantId);
    // Until the destinations are known, content may be needed.
    if (!destinations) return 'content';
    if (destinations.length === 0) return 'none';
    const takers = takersOf(destinations, { chain, traceId: context().traceId });
    if (takers.length === 0) return 'none';
    return takers.some(({ includesContent }) => includesContent) ? 'content' : 'figures';
  }

  accept(trace: RecordedTrace): void {
    const {
      tenantId,
      chain,
      context: { traceId },
    } = trace;
    const destinations = this.directory.of(tenantId);
    if (!(destinations instanceof Promise)) {
      const draft = (includeContent: boolean): SpanDraft[] =>
        draftSpans(trace, { audience: 'tenant', includeContent });
      this.take({ tenantId, chain, traceId, draft }, destinations);
      return;
    }
    if (this.undecided.size >= MAX_UNDECIDED_TRACES) {
      this.loseUndecided(trace, traceId);
      return;
    }
    // Waiting traces must not hold the request body, which can be large.
    const spans = draftSpans(trace, { audience: 'tenant', includeContent: true });
    const draft = (includeContent: boolean): SpanDraft[] =>
      includeContent ? spans : withoutContent(spans);
    const decision: Promise<void> = destinations
      .then((found) => this.take({ tenantId, chain, traceId, draft }, found))
      .catch((error: Error) => {
        this.loseUndecided({ tenantId, chain }, traceId);
        this.logger.warn(`trace destination lookup failed: ${error.message}`);
      })
      .finally(() => this.undecided.delete(decision));
    this.undecided.add(decision);
  }

  /** Counts a trace at its probable destinations, as far as they are known. */
  private loseUndecided(
    { tenantId, chain }: Pick<RecordedTrace, 'tenantId' | 'chain'>,
    traceId: string,
  ): void {
    const known = takersOf(this.directory.lastKnown(tenantId), { chain, traceId });
    if (known.length === 0) this.metrics.countDropped('undecided', 1);
    for (const { id } of known) this.lost.count(id, 1, 'undecided');
  }

  private take(trace: FinishedTrace, destinations: readonly DestinationChoice[]): void {
    const takers = takersOf(destinations, trace);
    for (const includeContent of [true, false]) {
      const wanting = takers.filter(({ includesContent }) => includesContent === includeContent);
      const open = wanting.filter(({ id }) => this.hasPlace(trace.tenantId, id));
      if (open.length === 0) continue;
      let line: string;
      try {
        line = JSON.stringify(trace.draft(includeContent));
      } catch (error) {
        this.logger.error(`trace not built: ${messageOf(error)}`);
        for (const { id } of open) this.lost.count(id, 1, 'faulty');
        continue;
      }
      this.addToGroup(trace.tenantId, open, line);
    }
    if (this.isStopping) this.flush(Infinity);
  }

  private hasPlace(tenantId: string, id: string): boolean {
    const isFull = this.writer.isFull(id);
    if (!isFull && this.budget.hasRoom(tenantId)) return true;
    this.lost.count(id, 1, isFull ? 'queue_full' : 'buffer_full');
    return false;
  }

  private addToGroup(tenantId: string, takers: readonly DestinationChoice[], line: string): void {
    // Destinations with equal content share a group; `takers` already reflects the content choice.
    const key = takers.map(({ id }) => id).join();
    let group = this.groups.get(key);
    if (!group) {
      const limits = takers.every(({ isFailing }) => isFailing)
        ? PATIENT_GROUP_LIMITS
        : GROUP_LIMITS;
      const ids = takers.map(({ id }) => id);
      group = new TraceGroup(tenantId, ids, limits);
      this.groups.set(key, group);
      this.tickIn(limits.maxAgeMs);
    }
    group.add(line);
    this.budget.take(tenantId, line.length);
    if (group.isFull) this.send(key, group);
  }

  /** Stores groups due before a `performance.now()` time. */
  private flush(beforeMs: number): void {
    let nextMs = Infinity;
    for (const [key, group] of this.groups) {
      if (group.dueAtMs <= beforeMs) this.send(key, group);
      else nextMs = Math.min(nextMs, group.dueAtMs);
    }
    if (nextMs < Infinity) this.tickIn(nextMs - performance.now());
  }

  private tickIn(delayMs: number): void {
    if (this.timer) {
      // Replaces a later timer that a patient group has set.
      if (this.tickAtMs <= performance.now() + delayMs) return;
      clearTimeout(this.timer);
    }
    const pauseMs = Math.max(TICK_MS, delayMs);
    this.tickAtMs = performance.now() + pauseMs;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      // Timers can fire a millisecond early.
      this.flush(performance.now() + 1);
    }, pauseMs).unref();
  }

  private tickAtMs = 0;

  private send(key: string, { tenantId, batches }: TraceGroup): void {
    this.groups.delete(key);
    for (const batch of batches) {
      void this.writer.write(batch).finally(() => {
        this.budget.giveBack(tenantId, { traces: batch.traceCount, bytes: batch.bytes });
      });
    }
  }

  /** Repeats until empty, since traces can arrive while storing. */
  private async drain(): Promise<void> {
    do {
      await Promise.allSettled(this.undecided);
      this.flush(Infinity);
      await this.writer.drain();
    } while (this.undecided.size > 0 || this.groups.size > 0);
  }
}

function takersOf(
  destinations: readonly DestinationChoice[],
  { chain, traceId }: Pick<FinishedTrace, 'chain' | 'traceId'>,
): readonly DestinationChoice[] {
  return destinations.filter(
    ({ samplingRate, scopeKeyId }) =>
      (scopeKeyId === null || (chain && isInScope(scopeKeyId, chain))) &&
      isSampled(traceId, samplingRate),
  );
}
