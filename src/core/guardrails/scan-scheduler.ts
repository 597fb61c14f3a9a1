import { FairQueue } from '../../platform/queue/fair-queue.js';

/** Scanning time per turn of the event loop. */
const TURN_MS = 2;

/**
 * Schedules scans of long texts in this process: a short time per turn of the event loop, one text
 * after the other and fairly between tenants, so that other work never waits longer than that,
 * however many texts there are.
 */
export class ScanScheduler {
  private readonly waiting = new FairQueue<() => void>(Infinity);
  private isGiving = false;
  private endsMs = 0;

  /** Wait for this before scanning a text, and whenever `isOver` returns true. */
  wait(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.add(tenantId, resolve);
      if (this.isGiving) return;
      this.isGiving = true;
      setImmediate(this.give);
    });
  }

  get isOver(): boolean {
    return performance.now() >= this.endsMs;
  }

  /** Call after scanning a text, to give the rest of the turn to the next one. */
  passOn(): void {
    if (!this.isOver) this.waiting.take()?.();
  }

  private readonly give = (): void => {
    this.endsMs = performance.now() + TURN_MS;
    this.waiting.take()?.();
    this.isGiving = this.waiting.size > 0;
    if (this.isGiving) setImmediate(this.give);
  };
}
