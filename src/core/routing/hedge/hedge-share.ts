/** So many of the latest requests that may be hedged are looked back on. */
const WINDOW = 1_000;

/** Of the latest requests that a second route may be asked for: how many had one, and for how many it was faster. */
export interface LatestHedges {
  readonly requests: number;
  readonly hedged: number;
  readonly won: number;
}

/**
 * Keeps the requests that two vendors work on at once below the share that the operator allows, of the
 * latest requests in this process that would take a second route.
 */
export class HedgeShare {
  /** For each of the latest requests, how many second routes were asked from its arrival to the next one's. */
  private readonly slots = new Uint16Array(WINDOW);
  /** … and how many such answered in that time. */
  private readonly wins = new Uint16Array(WINDOW);
  private asked = 0;
  private made = 0;
  private won = 0;

  /** @param percent that is allowed by now */
  constructor(private readonly percent: () => number) {}

  get isOff(): boolean {
    return this.percent() === 0;
  }

  /** A request begins that a second route may be asked for. */
  noteRequest(): void {
    const slot = this.asked++ % WINDOW;
    this.made -= this.slots[slot]!;
    this.won -= this.wins[slot]!;
    this.slots[slot] = this.wins[slot] = 0;
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

  /** A second route was faster. */
  noteWin(): void {
    this.wins[(this.asked - 1) % WINDOW]!++;
    this.won++;
  }

  get latest(): LatestHedges {
    return { requests: Math.min(this.asked, WINDOW), hedged: this.made, won: this.won };
  }
}
