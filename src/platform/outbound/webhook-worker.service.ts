import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { WorkQueue } from '../queue/work-queue.js';
import { OriginTurns } from './origin-turns.js';
import { OutboundClient, type OutboundOutcome } from './outbound-client.js';
import { WebhookDeliveryRepository, type TakenDelivery } from './webhook-delivery.repository.js';
import { WebhookSecrets } from './webhook-secrets.js';

export const MAX_ATTEMPTS = 5;
const FIRST_RETRY_MS = 1_000;
const TIMEOUT_MS = 10_000;
/** Longer than an attempt can take; then its worker is taken for dead. */
const LEASE_MS = 30_000;
const MAX_AT_ONCE = 100;
const MAX_AT_ONCE_PER_ORIGIN = 4;

const SWEEP_EVERY_MS = 5_000;
const FORGOTTEN_AFTER_MS = 5_000;
const SWEPT_AT_ONCE = 500;

const CLEAN_EVERY_MS = 3_600_000;
const KEPT_MS = 7 * 86_400_000;
const DELETED_AT_ONCE = 1_000;

/**
 * Delivers webhooks: five attempts, each signed anew, then the webhook is dropped. The sweep calls
 * for those whose wake-up was lost.
 */
@Injectable()
export class WebhookWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(WebhookWorker.name);
  private readonly turns = new OriginTurns(MAX_AT_ONCE_PER_ORIGIN);
  private timers: NodeJS.Timeout[] = [];
  private running: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly deliveries: WebhookDeliveryRepository,
    private readonly client: OutboundClient,
    private readonly secrets: WebhookSecrets,
    private readonly queue: WorkQueue,
    private readonly metrics: GatewayMetrics,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue'>,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.queue.consume) return;
    await this.queue.consume('webhooks', (key) => this.work(key), { concurrency: MAX_AT_ONCE });
    this.every(SWEEP_EVERY_MS, () => this.sweep());
    this.every(CLEAN_EVERY_MS, () => this.clean());
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    this.timers.forEach((timer) => clearInterval(timer));
    await this.running;
  }

  /** Makes the attempt that is due, if one is. */
  async work(deliveryId: string): Promise<void> {
    const url = await this.deliveries.urlOfDue(deliveryId);
    if (url === undefined) return;
    const origin = URL.canParse(url) ? new URL(url).origin : url;
    await this.turns.run(origin, deliveryId, (key) => this.attempt(key));
  }

  /** Calls for due webhooks that nobody was called for lately. */
  async sweep(): Promise<void> {
    const ids = await this.deliveries.wakeForgotten(FORGOTTEN_AFTER_MS, SWEPT_AT_ONCE);
    for (const id of ids) await this.queue.wake('webhooks', id);
  }

  /** Deletes webhooks that were delivered or dropped a week ago. */
  async clean(now = Date.now()): Promise<void> {
    let deleted: number;
    do {
      deleted = await this.deliveries.deleteFinishedBefore(
        new Date(now - KEPT_MS),
        DELETED_AT_ONCE,
      );
    } while (deleted === DELETED_AT_ONCE && !this.isStopped);
  }

  private async attempt(deliveryId: string): Promise<void> {
    if (this.isStopped) return;
    const delivery = await this.deliveries.take(deliveryId, LEASE_MS);
    if (!delivery) return;
    if (delivery.attempts > MAX_ATTEMPTS) {
      // The last attempt was taken by a process that died over it.
      return this.drop(delivery, 'the last attempt was cut off');
    }
    const outcome = await this.send(delivery);
    if (outcome.ok) {
      if (await this.deliveries.finish(delivery, 'delivered', null)) this.count('delivered');
      return;
    }
    const { reason, retryable } = outcome;
    if (!retryable || delivery.attempts === MAX_ATTEMPTS) return this.drop(delivery, reason);
    const delayMs = FIRST_RETRY_MS * 2 ** (delivery.attempts - 1);
    if (!(await this.deliveries.retryLater(delivery, delayMs, reason))) return;
    this.count('retried');
    await this.queue.wake('webhooks', deliveryId, { delayMs }).catch((error: unknown) => {
      this.logger.warn(`A webhook waits for the sweep: ${(error as Error).message}`);
    });
  }

  private send({ tenantId, url, id, body }: TakenDelivery): Promise<OutboundOutcome> {
    return this.client.post({
      url,
      body,
      timeoutMs: TIMEOUT_MS,
      headers: {
        'content-type': 'application/json',
        'idempotency-key': id,
        'x-gateway-delivery': id,
        'x-gateway-signature': this.secrets.sign(tenantId, body),
      },
    });
  }

  private async drop(delivery: TakenDelivery, reason: string): Promise<void> {
    if (!(await this.deliveries.finish(delivery, 'dropped', reason))) return;
    this.count('dropped');
    // Neither the URL nor what is in it: they are the tenant's.
    this.logger.warn(`Webhook ${delivery.id} was dropped: ${reason}.`);
  }

  private count(outcome: 'delivered' | 'retried' | 'dropped'): void {
    this.metrics.observeWebhook(outcome);
  }

  private every(intervalMs: number, work: () => Promise<void>): void {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      const run = work()
        .catch((error: unknown) => {
          this.logger.warn(`The sweep of webhooks failed: ${(error as Error).message}`);
        })
        .finally(() => {
          isRunning = false;
        });
      this.running = Promise.all([this.running, run]).then(() => undefined);
    }, intervalMs);
    timer.unref();
    this.timers.push(timer);
  }
}
