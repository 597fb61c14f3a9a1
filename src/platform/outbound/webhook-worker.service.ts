import { Injectable, Logger } from '@nestjs/common';
import { DAY_MS } from '../time/dates.js';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { WorkEngine } from '../durable-work/work-engine.js';
import type { WorkDepth, WorkPolicy } from '../durable-work/work-handler.js';
import type { Place } from '../durable-work/work-slots.js';
import type { WorkTopic } from '../durable-work/work-topic.js';
import { DeliveryHandler, type DeliveryPolicy } from './delivery-handler.js';
import { OutboundClient, type OutboundOutcome } from './outbound-client.js';
import { WebhookDeliveryRepository, type TakenWebhook } from './webhook-delivery.repository.js';
import { SECRET_UNREADABLE, WebhookSecrets } from './webhook-secrets.js';

const TIMEOUT_MS = 10_000;
/** Longer than an attempt; afterwards its worker is considered dead. */
const LEASE_MS = 30_000;

/** One origin may receive webhooks of many tenants, so failures of one do not slow others down. */
const POLICY: WorkPolicy = {
  topic: 'webhooks',
  slots: { perGroup: 4, atOnce: 100, waiting: 1_000 },
  stops: 'after-drain',
  isRepeatable: true,
};

const FORGOTTEN_AFTER_MS = 5_000;

const KEPT_MS = 7 * DAY_MS;
const DELETED_AT_ONCE = 1_000;

/**
 * Delivers webhooks: five attempts, each signed again, then the webhook is dropped. The sweep picks up lost
 * wake-ups.
 */
@Injectable()
export class WebhookWorker extends DeliveryHandler<TakenWebhook> {
  readonly areLost: string;
  readonly topic: WorkTopic<TakenWebhook>;
  protected readonly deliveryPolicy: DeliveryPolicy = {
    maxRetryAfterMs: 0,
    finalStatuses: new Set(),
  };
  private readonly logger = new Logger(WebhookWorker.name);

  constructor(
    private readonly deliveries: WebhookDeliveryRepository,
    private readonly client: OutboundClient,
    private readonly secrets: WebhookSecrets,
    private readonly metrics: GatewayMetrics,
    engine: WorkEngine,
  ) {
    super();
    this.areLost = deliveries.areForgotten(FORGOTTEN_AFTER_MS);
    this.topic = engine.register(WebhookWorker.name, this, POLICY);
  }

  /** Deletes webhooks that were delivered or dropped a week ago. */
  async tidy(now = Date.now()): Promise<void> {
    let deleted: number;
    do {
      deleted = await this.deliveries.deleteFinishedBefore(
        new Date(now - KEPT_MS),
        DELETED_AT_ONCE,
      );
    } while (deleted === DELETED_AT_ONCE && !this.topic.isEnding);
  }

  async place(id: string): Promise<Place | undefined> {
    const due = await this.deliveries.receiverOfDue(id);
    if (!due) return undefined;
    const { url, tenantId: owner } = due;
    return { group: URL.canParse(url) ? new URL(url).origin : url, owner };
  }

  claim(id: string): Promise<TakenWebhook | undefined> {
    return this.deliveries.take(id, LEASE_MS);
  }

  async post({ tenantId, url, id, body }: TakenWebhook): Promise<OutboundOutcome> {
    const headers = await this.secrets.headersFor(tenantId, id, body);
    if (!headers) return SECRET_UNREADABLE;
    return this.client.post({ url, body, timeoutMs: TIMEOUT_MS, headers });
  }

  async complete(delivery: TakenWebhook): Promise<void> {
    if (await this.deliveries.finish(delivery, 'delivered', null)) {
      this.metrics.observeWebhook('delivered');
    }
  }

  async retryLater(delivery: TakenWebhook, delayMs: number, words: string): Promise<void> {
    if (await this.deliveries.retryLater(delivery, delayMs, words)) {
      this.metrics.observeWebhook('retried');
    }
  }

  async drop(delivery: TakenWebhook, { words }: { words: string }): Promise<void> {
    if (!(await this.deliveries.finish(delivery, 'dropped', words))) return;
    this.metrics.observeWebhook('dropped');
    // The URL and body belong to the tenant and are not logged.
    this.logger.warn(`webhook ${delivery.id} dropped: ${words}`);
  }

  release(deliveries: readonly TakenWebhook[]): Promise<void> {
    return this.deliveries.release(deliveries);
  }

  takeLost(limit: number): Promise<string[]> {
    return this.deliveries.wakeForgotten(FORGOTTEN_AFTER_MS, limit);
  }

  depth(): Promise<WorkDepth> {
    return this.deliveries.depth();
  }
}
