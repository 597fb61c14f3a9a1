/** So many of the latest requests that may be hedged are looked back on. */
const WINDOW = 1_000;

/**
 * Keeps the requests that two vendors work on at once below the share that the operator allows, of the
 * latest requests in this process that would take a second route.
 */
export class HedgeShare {
  /** For each of the latest requests, how many second routes were asked from its arrival to the next one's. */
  private readonly slots = new Uint16Array(WINDOW);
  private asked = 0;
  private made = 0;

  /** @param percent that is allowed by now */
  constructor(private readonly percent: () => number) {}

  get isOff(): boolean {
    return this.percent() === 0;
  }

  /** A request begins that a second route may be asked for. */
  noteRequest(): void {
    const slot = this.asked++ % WINDOW;
    this.made -= this.slots[slot]!;
    this.slots[slot] = 0;
  }

  get hasRoom(): boolean {
    return (this.made + 1) * 100 <= this.percent() * Math.min(this.asked, WINDOW);
  }

  /** Takes what one second route needs of the share. @returns false when there is no room */
  take(): boolean {
    if (!this.hasRoom) return false;
    this.slots[(this.asked - 1) % WINDOW]!++;
    this.made++;
    return true;
  }

  /** Of the latest requests, and how many of them are looked back on. */
  get latest(): { requests: number; hedged: number } {
    return { requests: Math.min(this.asked, WINDOW), hedged: this.made };
  }
}
