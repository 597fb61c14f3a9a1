import { Injectable } from '@nestjs/common';
import { BroadcastMetrics, type DropReason } from './broadcast-metrics.js';
import { DeliveryRepository } from './delivery.repository.js';

/** Whoever loses traces loses many: they are added up before they are written down. */
const WRITE_AFTER_MS = 1_000;

/** What the tenant is told of traces that never became a delivery. */
const WORDS = 'the gateway had no room for more traces';

/** Counts traces that were dropped in this process, also at their destinations. */
@Injectable()
export class LostTraces {
  private readonly lost = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly metrics: BroadcastMetrics,
  ) {}

  count(destinationId: string, traces: number, reason: DropReason): void {
    this.metrics.countDropped(reason, traces);
    this.add(destinationId, traces);
  }

  /** Never rejects: what cannot be written is kept, and tried again. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const lost = [...this.lost];
    this.lost.clear();
    for (const [destinationId, traces] of lost) {
      try {
        await this.deliveries.countDropped(destinationId, traces, WORDS);
      } catch {
        this.add(destinationId, traces);
      }
    }
  }

  private add(destinationId: string, traces: number): void {
    this.lost.set(destinationId, (this.lost.get(destinationId) ?? 0) + traces);
    this.timer ??= setTimeout(() => void this.write(), WRITE_AFTER_MS).unref();
  }
}
