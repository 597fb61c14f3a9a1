import { Inject, Injectable, Logger } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { DeliveryHandler, type Drop } from '../../platform/outbound/delivery-handler.js';
import { OutboundClient, type OutboundOutcome } from '../../platform/outbound/outbound-client.js';
import { WorkEngine } from '../../platform/durable-work/work-engine.js';
import type { WorkDepth } from '../../platform/durable-work/work-handler.js';
import type { Place } from '../../platform/durable-work/work-slots.js';
import type { WorkTopic } from '../../platform/durable-work/work-topic.js';
import {
  DELIVERY_POLICY,
  DELIVERY_TIMEOUT_MS,
  DELIVERY_WORK,
  MAX_DELIVERY_AGE_MS,
} from './broadcast-limits.js';
import { BroadcastMetrics, type DropReason } from './broadcast-metrics.js';
import {
  DeliveryRepository,
  type ClaimedDelivery,
  type WrittenDelivery,
} from './delivery.repository.js';
import { HeaderEncryption, deliveryHeaders, HEADERS_UNREADABLE } from './destination-headers.js';
import { RenderedBatches } from './rendered-batches.service.js';
import { isJsonObject } from '../../platform/http/json-body.js';

const MAX_MESSAGE_CHARACTERS = 500;

/** A delivery this overdue has lost its process. */
const OVERDUE_MS = 5_000;

/** `GATEWAY_SECRET` changed, so the tenant has to set the headers again. */
const UNREADABLE_HEADERS: OutboundOutcome = {
  ok: false,
  reason: HEADERS_UNREADABLE,
  retryable: false,
  status: undefined,
};

/** Sends deliveries, with a separate queue for each destination. */
@Injectable()
export class DeliveryService extends DeliveryHandler<ClaimedDelivery, DropReason> {
  protected readonly deliveryPolicy = DELIVERY_POLICY;
  private readonly logger = new Logger(DeliveryService.name);
  private readonly topic: WorkTopic<ClaimedDelivery>;
  /** The first sweep takes everything a previous process left. */
  private overdueMs = 0;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly client: OutboundClient,
    private readonly headers: HeaderEncryption,
    private readonly batches: RenderedBatches,
    private readonly metrics: BroadcastMetrics,
    @Inject(APP_CONFIG)
    private readonly config: Pick<AppConfig, 'pendingTracesMaxBytes'>,
    engine: WorkEngine,
  ) {
    super();
    this.topic = engine.register(DeliveryService.name, this, DELIVERY_WORK);
  }

  /** Starts a new delivery, here or on the background instance. */
  deliver({ id, destinationId, dueBefore }: WrittenDelivery): void {
    if (this.topic.isOpen) {
      void this.topic.add(id, { group: destinationId });
      return;
    }
    // The queue is busy, so a worker will find this delivery too.
    if (dueBefore >= DELIVERY_WORK.slots.perGroup) return;
    // Not awaited: the sweep finds the delivery when the queue is unavailable.
    this.topic.wake(id).catch((error: Error) => {
      this.logger.warn(`trace delivery left to the sweep: ${error.message}`);
    });
  }

  /** Resumes overdue deliveries. Each queue continues by itself from there. */
  async tidy(): Promise<void> {
    for (const { id, destinationId } of await this.deliveries.findOverdue(this.overdueMs)) {
      void this.topic.add(id, { group: destinationId, mayHaveMore: true });
    }
    this.overdueMs = OVERDUE_MS;
    await this.keepWithinBound();
    await this.deliveries.removeSpentBatches();
  }

  /** Pending traces of failing receivers must not fill the database. */
  private async keepWithinBound(): Promise<void> {
    const { pendingTracesMaxBytes } = this.config;
    const reason = 'the gateway had no room for more traces of all tenants';
    const { traces, destinations } = await this.deliveries.dropOldest(
      pendingTracesMaxBytes,
      reason,
    );
    if (traces === 0) return;
    this.metrics.countDropped('crowded', traces);
    this.logger.warn(
      `${traces} traces for ${destinations} destinations are given up, the oldest that waited: ` +
        `all together have ${pendingTracesMaxBytes} bytes (GATEWAY_BROADCAST_PENDING_MB)`,
    );
  }

  async place(id: string): Promise<Place | undefined> {
    const group = await this.deliveries.findDestinationOfDue(id);
    return group === undefined ? undefined : { group, mayHaveMore: true };
  }

  claim(id: string): Promise<ClaimedDelivery | undefined> {
    return this.deliveries.claim(id);
  }

  findDue(destinationId: string, limit: number): Promise<string[]> {
    return this.deliveries.findDue(destinationId, limit);
  }

  override findDrop({ isEnabled, isLive, ageMs }: ClaimedDelivery): Drop<DropReason> | undefined {
    if (!isLive)
      return { reason: 'disabled', words: 'the key of the destination is no longer valid' };
    if (!isEnabled) return { reason: 'disabled', words: 'the destination is disabled' };
    if (ageMs <= MAX_DELIVERY_AGE_MS) return undefined;
    return { reason: 'expired', words: 'the traces waited too long' };
  }

  async post(
    { id, destinationId, batchId, url, encryptedHeaders, includesContent }: ClaimedDelivery,
    holds: (bytes: number) => void,
  ): Promise<OutboundOutcome> {
    const own = this.headers.decrypt(encryptedHeaders, destinationId);
    let outcome = UNREADABLE_HEADERS;
    if (own) {
      const body = await this.batches.of(batchId, { includesContent });
      holds(body.length);
      const headers = deliveryHeaders(own, id);
      const timeoutMs = DELIVERY_TIMEOUT_MS;
      outcome = await this.client.post({ url, headers, body, timeoutMs, readsAnswer: true });
    }
    this.metrics.countAttempt(outcome.ok ? 'delivered' : 'failed');
    return outcome;
  }

  async complete({ id, traceCount }: ClaimedDelivery, answer: string | undefined): Promise<void> {
    const partial = readPartialSuccess(answer);
    // Each rejected span belongs to at most one trace, but which is unknown.
    const rejected = Math.min(partial?.rejectedSpans ?? 0, traceCount);
    if (!(await this.deliveries.complete(id, rejected, partial?.reason))) return;
    this.metrics.countDelivered(traceCount - rejected);
    if (rejected > 0) this.metrics.countDropped('rejected', rejected);
  }

  retryLater(delivery: ClaimedDelivery, delayMs: number, words: string): Promise<void> {
    return this.deliveries.retryLater(delivery, delayMs, words);
  }

  async drop(delivery: ClaimedDelivery, why: Drop<DropReason>): Promise<void> {
    if (await this.deliveries.drop(delivery, why.words)) {
      this.metrics.countDropped(why.reason, delivery.traceCount);
    }
  }

  release(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    return this.deliveries.release(deliveries);
  }

  depth(): Promise<WorkDepth> {
    return this.deliveries.depth();
  }
}

/** Spans that a collector rejected in a 200 response. */
interface PartialSuccess {
  readonly rejectedSpans: number;
  /** For the tenant: completes a sentence about the receiver. */
  readonly reason: string;
}

/**
 * Reads `partialSuccess` of an `ExportTraceServiceResponse` in JSON.
 * @param answer body of a 2xx response; other content is ignored
 * @returns undefined when everything was accepted
 */
export function readPartialSuccess(answer: string | undefined): PartialSuccess | undefined {
  const partial = parse(answer)?.partialSuccess;
  if (!isJsonObject(partial)) return undefined;
  // Protobuf JSON encodes 64-bit integers as strings, but some servers send numbers.
  const rejectedSpans = Number(partial.rejectedSpans ?? 0);
  if (!Number.isSafeInteger(rejectedSpans) || rejectedSpans <= 0) return undefined;
  const { errorMessage } = partial;
  const words = typeof errorMessage === 'string' ? errorMessage.trim() : '';
  const said = words === '' ? '' : `: ${words.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}`;
  return { rejectedSpans, reason: `rejected ${rejectedSpans} spans${said}` };
}

function parse(text: string | undefined): Record<string, unknown> | undefined {
  if (!text?.includes('partialSuccess')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
