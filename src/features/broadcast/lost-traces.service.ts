import { Injectable } from '@nestjs/common';
import { BroadcastMetrics, type DropReason } from './broadcast-metrics.js';
import { DeliveryRepository } from './delivery.repository.js';

/** Losses come in bursts, so they are summed before they are stored. */
const WRITE_AFTER_MS = 1_000;

/** Reasons shown to the tenant for traces that never became a delivery. */
const NO_ROOM = 'the gateway had no room for more traces';
const WORDS: Partial<Record<DropReason, string>> = {
  storage: 'the gateway could not store the traces',
  undecided: 'the gateway could not look up the destinations',
  faulty: 'the gateway could not build a trace',
};

interface Loss {
  readonly destinationId: string;
  readonly reason: DropReason;
  traces: number;
}

/** Counts traces dropped in this process, also per destination. */
@Injectable()
export class LostTraces {
  private readonly lost = new Map<string, Loss>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly metrics: BroadcastMetrics,
  ) {}

  count(destinationId: string, traces: number, reason: DropReason): void {
    this.metrics.countDropped(reason, traces);
    this.add({ destinationId, traces, reason });
  }

  /** Never rejects. Counts that cannot be stored are retried. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const lost = [...this.lost.values()];
    this.lost.clear();
    for (const loss of lost) {
      const { destinationId, traces, reason } = loss;
      // A full queue follows from receiver errors, and those say more.
      const keepsLastError = reason === 'queue_full';
      const words = WORDS[reason] ?? NO_ROOM;
      try {
        await this.deliveries.countDropped(destinationId, traces, words, { keepsLastError });
      } catch {
        this.add(loss);
      }
    }
  }

  private add(loss: Loss): void {
    const key = `${loss.destinationId}/${loss.reason}`;
    const known = this.lost.get(key);
    if (known) known.traces += loss.traces;
    else this.lost.set(key, loss);
    this.timer ??= setTimeout(() => void this.write(), WRITE_AFTER_MS).unref();
  }
}
