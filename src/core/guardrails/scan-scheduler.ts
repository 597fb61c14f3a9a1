import { FairQueue } from '../../platform/queue/fair-queue.js';

/** How long texts are looked at in a turn of the event loop. */
const TURN_MS = 2;

/**
 * Looking at long texts in the process itself: it is done for a moment in a turn of the event loop, one text after the
 * other, and tenants take turns, so that others wait for no more than that moment, however many long texts there are.
 */
export class ScanScheduler {
  private readonly waiting = new FairQueue<() => void>(Infinity);
  private isGiving = false;
  private endsMs = 0;

  /** To be waited for before a text is looked at, and whenever `isOver` says so. */
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

  /** To be called when a text has been looked at: the next one may have what is left of the turn. */
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
