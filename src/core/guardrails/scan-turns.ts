import { FairQueue } from '../../platform/queue/fair-queue.js';

/** How long one looks at texts in a turn of the event loop. */
const TURN_MS = 2;

/**
 * Looking at long texts in the process itself: one does so in a turn of the event loop, for a moment, and tenants
 * take turns, so that others wait for no more than that moment, however many long texts there are.
 */
export class ScanTurns {
  private readonly waiting = new FairQueue<() => void>(Infinity);
  private isGiving = false;

  /** To be asked once for each text. */
  begin(tenantId: string): ScanTurn {
    return new ScanTurn(() => this.wait(tenantId));
  }

  private wait(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.add(tenantId, resolve);
      if (this.isGiving) return;
      this.isGiving = true;
      setImmediate(this.give);
    });
  }

  private readonly give = (): void => {
    this.waiting.take()?.();
    this.isGiving = this.waiting.size > 0;
    if (this.isGiving) setImmediate(this.give);
  };
}

/** One text's turns. */
export class ScanTurn {
  private endsMs = 0;

  constructor(private readonly wait: () => Promise<void>) {}

  /** To be waited for before each piece of work. @returns undefined while the turn lasts */
  next(): Promise<void> | undefined {
    if (performance.now() < this.endsMs) return undefined;
    return this.wait().then(() => void (this.endsMs = performance.now() + TURN_MS));
  }
}
