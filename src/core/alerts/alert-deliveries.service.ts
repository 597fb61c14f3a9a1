import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import {
  DeliveryHandler,
  type DeliveryPolicy,
  type Drop,
} from '../../platform/outbound/delivery-handler.js';
import { WorkEngine } from '../../platform/durable-work/work-engine.js';
import type { WorkPolicy } from '../../platform/durable-work/work-handler.js';
import type { Place } from '../../platform/durable-work/work-slots.js';
import type { WorkTopic } from '../../platform/durable-work/work-topic.js';
import type { OutboundOutcome } from '../../platform/outbound/outbound-client.js';
import { DAY_MS } from '../../platform/time/dates.js';
import { AlertEventRepository, type TakenAlert } from './alert-event.repository.js';
import { AlertRuleRepository } from './alert-rule.repository.js';
import { AlertSender } from './alert-sender.js';

/** Longer than an attempt can take; after that, its process is considered dead. */
const LEASE_MS = 30_000;
/** Each event is a separate group, so none waits for another. */
const WORK: WorkPolicy = {
  slots: { perGroup: 1, atOnce: 50, waiting: 1 },
  stops: 'after-drain',
  isRepeatable: true,
};

const FORGOTTEN_AFTER_MS = 5_000;

const KEPT_MS = 90 * DAY_MS;
const DELETED_AT_ONCE = 1_000;

const RULE_GONE: Drop<'rule_gone'> = { reason: 'rule_gone', words: 'the rule was deleted' };

/**
 * Delivers alerts: ten attempts in eight and a half minutes. The process that recorded an event delivers it at once.
 * Others take over what it left after five seconds.
 */
@Injectable()
export class AlertDeliveries extends DeliveryHandler<TakenAlert, 'rule_gone'> {
  readonly areLost: string;
  readonly topic: WorkTopic<TakenAlert>;
  protected readonly deliveryPolicy: DeliveryPolicy = {
    maxAttempts: 10,
    maxRetryAfterMs: 60_000,
    finalStatuses: new Set(),
  };
  private readonly logger = new Logger(AlertDeliveries.name);
  private readonly outcomes: Counter<'kind' | 'outcome'>;

  constructor(
    private readonly events: AlertEventRepository,
    private readonly rules: AlertRuleRepository,
    private readonly sender: AlertSender,
    metrics: GatewayMetrics,
    engine: WorkEngine,
  ) {
    super();
    this.areLost = events.areForgotten(FORGOTTEN_AFTER_MS);
    this.topic = engine.register(AlertDeliveries.name, this, WORK);
    this.outcomes = new Counter({
      name: 'gateway_alerts_deliveries_total',
      help: 'Attempts to deliver an alert, by outcome.',
      labelNames: ['kind', 'outcome'],
      registers: [metrics.registry],
    });
  }

  /** Makes the attempt that is due, if any. */
  deliver(id: string): void {
    void this.topic.add(id, { group: id });
  }

  /** Deletes events older than 90 days. */
  async tidy(now = Date.now()): Promise<void> {
    let deleted: number;
    do {
      deleted = await this.events.deleteBefore(new Date(now - KEPT_MS), DELETED_AT_ONCE);
    } while (deleted === DELETED_AT_ONCE && !this.topic.isEnding);
  }

  place(id: string): Promise<Place> {
    return Promise.resolve({ group: id });
  }

  claim(id: string): Promise<TakenAlert | undefined> {
    return this.events.take(id, LEASE_MS);
  }

  override findDrop({ format }: TakenAlert): Drop<'rule_gone'> | undefined {
    return format === null ? RULE_GONE : undefined;
  }

  post(alert: TakenAlert): Promise<OutboundOutcome> {
    const { tenantId: owner, ruleId, format, encryptedUrl } = alert;
    const url = encryptedUrl ? this.rules.decrypt(encryptedUrl, ruleId) : undefined;
    return this.sender.post(alert, { owner, format: format ?? 'webhook', url });
  }

  async complete(alert: TakenAlert): Promise<void> {
    if (await this.events.finish(alert, 'delivered', null)) this.count(alert, 'delivered');
  }

  async retryLater(alert: TakenAlert, delayMs: number, words: string): Promise<void> {
    if (await this.events.retryLater(alert, delayMs, words)) this.count(alert, 'retried');
  }

  async drop(alert: TakenAlert, { words }: { words: string }): Promise<void> {
    if (!(await this.events.finish(alert, 'dropped', words))) return;
    this.count(alert, 'dropped');
    // The URL and body belong to the owner and are not logged.
    this.logger.warn(`alert ${alert.id} dropped: ${words}`);
  }

  release(alerts: readonly TakenAlert[]): Promise<void> {
    return this.events.release(alerts);
  }

  takeLost(limit: number): Promise<string[]> {
    return this.events.wakeForgotten(FORGOTTEN_AFTER_MS, limit);
  }

  private count({ kind }: TakenAlert, outcome: string): void {
    this.outcomes.inc({ kind, outcome });
  }
}
