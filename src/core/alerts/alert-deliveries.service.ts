import { Inject, Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Counter } from 'prom-client';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import {
  DeliveryEngine,
  type DeliveryPolicy,
  type DeliveryWork,
  type Drop,
} from '../../platform/outbound/delivery-engine.js';
import { DueWork } from '../../platform/database/due-work.js';
import type { OutboundOutcome } from '../../platform/outbound/outbound-client.js';
import { DAY_MS, HOUR_MS } from '../../platform/time/dates.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { AlertEventRepository, type TakenAlert } from './alert-event.repository.js';
import { AlertRuleRepository } from './alert-rule.repository.js';
import { AlertSender } from './alert-sender.js';

/** Longer than any attempt; after that its process is taken for dead. */
const LEASE_MS = 30_000;
/** More attempts than job webhooks: ten in eight and a half minutes, since receivers cannot poll instead. */
const POLICY: DeliveryPolicy = {
  lanes: {
    perLane: 1,
    atOnce: 50,
    bytes: Infinity,
    expectedBytes: 0,
    waiting: 1,
    failingRestMs: undefined,
  },
  maxAttempts: 10,
  maxRetryAfterMs: 60_000,
  finalStatuses: new Set(),
};

const FORGOTTEN_AFTER_MS = 5_000;
const SWEPT_AT_ONCE = 200;

const KEPT_MS = 90 * DAY_MS;
const DELETED_AT_ONCE = 1_000;

const RULE_GONE: Drop<'rule_gone'> = { reason: 'rule_gone', words: 'the rule was deleted' };

/**
 * Delivers alert events. The process that recorded an event delivers it at once; every process takes
 * over deliveries that are five seconds overdue.
 */
@Injectable()
export class AlertDeliveries
  implements
    DeliveryWork<TakenAlert, 'rule_gone'>,
    OnApplicationBootstrap,
    BeforeApplicationShutdown
{
  private readonly logger = new Logger(AlertDeliveries.name);
  private readonly engine = new DeliveryEngine(this, POLICY, this.logger);
  private readonly sweeper = this.timerOf(() => this.sweep());
  private readonly cleaner = this.timerOf(() => this.clean());
  private readonly outcomes: Counter<'kind' | 'outcome'>;

  constructor(
    private readonly events: AlertEventRepository,
    private readonly rules: AlertRuleRepository,
    private readonly sender: AlertSender,
    private readonly dueWork: DueWork,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue'>,
    metrics: GatewayMetrics,
  ) {
    this.outcomes = new Counter({
      name: 'gateway_alerts_deliveries_total',
      help: 'Attempts to deliver an alert, by outcome.',
      labelNames: ['kind', 'outcome'],
      registers: [metrics.registry],
    });
  }

  onApplicationBootstrap(): void {
    if (!this.config.queue.consume) return;
    this.dueWork.watch(this.events.areForgotten(FORGOTTEN_AFTER_MS), this.sweeper);
    this.cleaner.startLater(HOUR_MS);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.engine.stop(this.sweeper, this.cleaner);
  }

  /** Attempts a due delivery. Each has its own queue, so none waits for another. */
  deliver(id: string): void {
    void this.engine.add(id, id);
  }

  /** Takes over overdue deliveries. */
  async sweep(): Promise<void> {
    const ids = await this.events.wakeForgotten(FORGOTTEN_AFTER_MS, SWEPT_AT_ONCE);
    for (const id of ids) this.deliver(id);
  }

  /** Deletes events older than 90 days. */
  async clean(now = Date.now()): Promise<void> {
    let deleted: number;
    do {
      deleted = await this.events.deleteBefore(new Date(now - KEPT_MS), DELETED_AT_ONCE);
    } while (deleted === DELETED_AT_ONCE && !this.cleaner.isStopped);
  }

  take(id: string): Promise<TakenAlert | undefined> {
    return this.events.take(id, LEASE_MS);
  }

  findDrop({ format }: TakenAlert): Drop<'rule_gone'> | undefined {
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
    // Without the URL or its parts, which are their owner's.
    this.logger.warn(`alert ${alert.id} dropped: ${words}`);
  }

  giveBack(ids: readonly string[]): Promise<void> {
    return this.events.giveBack(ids);
  }

  /** Another process's sweep finds it. */
  wake(): Promise<void> {
    return Promise.resolve();
  }

  private count({ kind }: TakenAlert, outcome: string): void {
    this.outcomes.inc({ kind, outcome });
  }

  private timerOf(work: () => Promise<void>): SweepTimer {
    return new SweepTimer(work, ({ message }) =>
      this.logger.warn(`alert sweep failed: ${message}`),
    );
  }
}
