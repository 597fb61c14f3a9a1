import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';

/**
 * Why a trace did not arrive: `buffer_full`, `undecided` and `faulty` in this process, `storage`
 * because the database was away, `queue_full` at one destination, `crowded` at all together, `refused`, `rejected` (by an answer
 * that took the others) or `exhausted` by the receiver, `expired` while waiting, `disabled` with its
 * destination, deleted or `moved`.
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

/** No label names a tenant or a destination; those see their own figures. */
@Injectable()
export class BroadcastMetrics {
  private readonly delivered: Counter;
  private readonly dropped: Counter<'reason'>;
  private readonly attempts: Counter<'outcome'>;

  constructor(metrics: GatewayMetrics) {
    const registers = [metrics.registry];
    this.delivered = new Counter({
      name: 'gateway_broadcast_delivered_total',
      help: "Traces that tenants' receivers took.",
      registers,
    });
    this.dropped = new Counter({
      name: 'gateway_broadcast_dropped_total',
      help: 'Traces that were given up, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.attempts = new Counter({
      name: 'gateway_broadcast_attempts_total',
      help: 'Deliveries tried, by outcome.',
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
