import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { DAY_MS, HOUR_MS } from '../time/dates.js';
import { SweepTimer } from '../time/sweep-timer.js';
import { DueWork } from '../database/due-work.js';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { WorkQueue } from '../queue/work-queue.js';
import { DeliveryEngine, type DeliveryPolicy, type DeliveryWork } from './delivery-engine.js';
import { OutboundClient, type OutboundOutcome } from './outbound-client.js';
import { WebhookDeliveryRepository, type TakenWebhook } from './webhook-delivery.repository.js';
import { SECRET_UNREADABLE, WebhookSecrets } from './webhook-secrets.js';

const TIMEOUT_MS = 10_000;
/** Longer than an attempt; afterwards its worker is considered dead. */
const LEASE_MS = 30_000;
const MAX_AT_ONCE = 100;

/** One origin may receive webhooks of many tenants, so failures of one do not slow others down. */
const POLICY: DeliveryPolicy = {
  lanes: {
    perLane: 4,
    atOnce: MAX_AT_ONCE,
    bytes: Infinity,
    expectedBytes: 0,
    waiting: 1_000,
    failingRestMs: undefined,
  },
  maxRetryAfterMs: 0,
  finalStatuses: new Set(),
};

const FORGOTTEN_AFTER_MS = 5_000;
const SWEPT_AT_ONCE = 500;

const KEPT_MS = 7 * DAY_MS;
const DELETED_AT_ONCE = 1_000;

/**
 * Delivers webhooks: five attempts, each signed again, then the webhook is dropped. The sweep picks up lost
 * wake-ups.
 */
@Injectable()
export class WebhookWorker
  implements DeliveryWork<TakenWebhook, never>, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly logger = new Logger(WebhookWorker.name);
  private readonly engine = new DeliveryEngine(this, POLICY, this.logger);
  private readonly sweeper = this.timerOf(() => this.sweep());
  private readonly cleaner = this.timerOf(() => this.clean());

  constructor(
    private readonly deliveries: WebhookDeliveryRepository,
    private readonly client: OutboundClient,
    private readonly secrets: WebhookSecrets,
    private readonly queue: WorkQueue,
    private readonly metrics: GatewayMetrics,
    private readonly dueWork: DueWork,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue'>,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.queue.consume) return;
    await this.queue.consume('webhooks', (key) => this.deliver(key), { concurrency: MAX_AT_ONCE });
    this.dueWork.watch(this.deliveries.areForgotten(FORGOTTEN_AFTER_MS), this.sweeper);
    this.cleaner.startLater(HOUR_MS);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.engine.stop(this.sweeper, this.cleaner);
  }

  /** Makes the due attempt, if there is one. Does not wait for a busy receiver. */
  async deliver(id: string): Promise<void> {
    const url = await this.deliveries.urlOfDue(id);
    if (url === undefined) return;
    await this.engine.add(URL.canParse(url) ? new URL(url).origin : url, id);
  }

  /** Wakes workers for due webhooks that were not announced recently. */
  async sweep(): Promise<void> {
    const ids = await this.deliveries.wakeForgotten(FORGOTTEN_AFTER_MS, SWEPT_AT_ONCE);
    for (const id of ids) await this.wake(id);
  }

  /** Deletes webhooks that were delivered or dropped a week ago. */
  async clean(now = Date.now()): Promise<void> {
    let deleted: number;
    do {
      deleted = await this.deliveries.deleteFinishedBefore(
        new Date(now - KEPT_MS),
        DELETED_AT_ONCE,
      );
    } while (deleted === DELETED_AT_ONCE && !this.cleaner.isStopped);
  }

  take(id: string): Promise<TakenWebhook | undefined> {
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
    this.logger.warn(`Webhook ${delivery.id} was dropped: ${words}.`);
  }

  giveBack(ids: readonly string[]): Promise<void> {
    return this.deliveries.giveBack(ids);
  }

  wake(id: string): Promise<void> {
    return this.queue.wake('webhooks', id);
  }

  private timerOf(work: () => Promise<void>): SweepTimer {
    return new SweepTimer(work, ({ message }) =>
      this.logger.warn(`The sweep of webhooks failed: ${message}`),
    );
  }
}
