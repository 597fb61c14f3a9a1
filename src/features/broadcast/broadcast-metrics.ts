import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';

/**
 * Why a trace was dropped. In this process: `buffer_full`, `undecided`, `faulty`. Database
 * unavailable: `storage`. Size bound of one destination: `queue_full`; of all: `crowded`. By the
 * receiver: `refused`, `rejected` (in a partial success) or `exhausted`. While waiting: `expired`,
 * `disabled`, deleted or `moved`.
 */
export type DropReason =
  | 'buffer_full'
  | 'undecided'
  | 'faulty'
  | 'storage'
  | 'queue_full'
  | 'crowded'
  | 'refused'
  | 'rejected'
  | 'exhausted'
  | 'expired'
  | 'disabled'
  | 'moved';

/** Labels name no tenant or destination, which see their own counters. */
@Injectable()
export class BroadcastMetrics {
  private readonly delivered: Counter;
  private readonly dropped: Counter<'reason'>;
  private readonly attempts: Counter<'outcome'>;

  constructor(metrics: GatewayMetrics) {
    const registers = [metrics.registry];
    this.delivered = new Counter({
      name: 'gateway_broadcast_delivered_total',
      help: "Traces accepted by tenants' receivers.",
      registers,
    });
    this.dropped = new Counter({
      name: 'gateway_broadcast_dropped_total',
      help: 'Dropped traces by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.attempts = new Counter({
      name: 'gateway_broadcast_attempts_total',
      help: 'Delivery attempts by outcome.',
      labelNames: ['outcome'],
      registers,
    });
  }

  countDelivered(traces: number): void {
    this.delivered.inc(traces);
  }

  countDropped(reason: DropReason, traces: number): void {
    this.dropped.inc({ reason }, traces);
  }

  countAttempt(outcome: 'delivered' | 'failed'): void {
    this.attempts.inc({ outcome });
  }
}
