/** Number of recent hedgeable requests considered. */
const WINDOW = 1_000;

/** Recent hedgeable requests: how many were hedged, and how often the hedge won. */
export interface LatestHedges {
  readonly requests: number;
  readonly hedged: number;
  readonly won: number;
}

/**
 * Keeps hedged requests below the operator's share of the recent hedgeable requests in this
 * process.
 */
export class HedgeShare {
  /** Hedges started between each recent request and the next. */
  private readonly slots = new Uint16Array(WINDOW);
  /** Wins in the same intervals. */
  private readonly wins = new Uint16Array(WINDOW);
  private asked = 0;
  private made = 0;
  private won = 0;

  /**
   * @param percent returns the current limit
   */
  constructor(private readonly percent: () => number) {}

  get isOff(): boolean {
    return this.percent() === 0;
  }

  /** Records a request that may be hedged. */
  noteRequest(): void {
    const slot = this.asked++ % WINDOW;
    this.made -= this.slots[slot]!;
    this.won -= this.wins[slot]!;
    this.slots[slot] = this.wins[slot] = 0;
  }

  get hasRoom(): boolean {
    return (this.made + 1) * 100 <= this.percent() * Math.min(this.asked, WINDOW);
  }

  /**
   * Takes one hedge from the share.
   *
   * @returns false when the share is used up
   */
  take(): boolean {
    if (!this.hasRoom) return false;
    this.slots[(this.asked - 1) % WINDOW]!++;
    this.made++;
    return true;
  }

  /** Records that a hedge won. */
  noteWin(): void {
    this.wins[(this.asked - 1) % WINDOW]!++;
    this.won++;
  }

  get latest(): LatestHedges {
    return { requests: Math.min(this.asked, WINDOW), hedged: this.made, won: this.won };
  }
}
