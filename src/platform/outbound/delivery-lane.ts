/** What the lanes of one kind of delivery may do. */
export interface LaneLimits {
  /** Posts to one receiver at once. */
  readonly perLane: number;
  /** Posts at once, to all receivers, by one process … */
  readonly atOnce: number;
  /** … and bytes in them. */
  readonly bytes: number;
  /** What a post is taken to hold until its body is there. */
  readonly expectedBytes: number;
  /** More than these wait in the database only, until there is nothing to do in their lane. */
  readonly waiting: number;
  /** A receiver that keeps failing is asked at most once in so long; undefined: as any other. */
  readonly failingRestMs: number | undefined;
}

/** From so many failures in a row on, one delivery at a time is enough to learn of the end. */
const FAILURES_BEFORE_CARE = 4;

/** The deliveries to one receiver that this process is to make: a few at once, in no order. */
export class DeliveryLane {
  /** Whether there may be deliveries that are due and that stand nowhere here. */
  mayHaveMore = false;
  /** Timers after which it is to be looked at again. */
  alarms = 0;
  private readonly waiting = new Set<string>();
  private readonly running = new Set<string>();
  private failuresInRow = 0;
  /** On the clock of `performance.now()`. */
  private restsUntilMs = 0;

  constructor(
    readonly receiver: string,
    private readonly limits: LaneLimits,
  ) {}

  get isIdle(): boolean {
    return this.waiting.size === 0 && this.running.size === 0 && this.alarms === 0;
  }

  /** Whether more may be asked for: all that waited here has begun. */
  get isHungry(): boolean {
    return this.waiting.size === 0;
  }

  get claimedIds(): readonly string[] {
    return [...this.running];
  }

  get waitingIds(): readonly string[] {
    return [...this.waiting];
  }

  add(id: string): void {
    if (this.running.has(id)) return;
    if (this.waiting.size >= this.limits.waiting) this.mayHaveMore = true;
    else this.waiting.add(id);
  }

  /** The next delivery to make, if it may begin now. */
  take(): string | undefined {
    if (this.running.size >= (this.restMs > 0 ? 1 : this.limits.perLane)) return undefined;
    const [id] = this.waiting;
    if (id === undefined || performance.now() < this.restsUntilMs) return undefined;
    this.waiting.delete(id);
    this.running.add(id);
    return id;
  }

  /**
   * @param isGood undefined when nothing was posted
   * @param pauseMs for how long the receiver asked to be left alone
   * @returns how long nothing will be made now; undefined when nothing stands in the way
   */
  finish(id: string, isGood: boolean | undefined, pauseMs = 0): number | undefined {
    this.running.delete(id);
    if (isGood === undefined) return undefined;
    if (isGood) {
      this.failuresInRow = 0;
      this.restsUntilMs = 0;
      return undefined;
    }
    this.failuresInRow++;
    const restMs = Math.max(pauseMs, this.restMs);
    if (restMs === 0) return undefined;
    this.restsUntilMs = Math.max(this.restsUntilMs, performance.now() + restMs);
    return restMs;
  }

  /** Between two posts to a receiver that keeps failing. */
  private get restMs(): number {
    return this.failuresInRow >= FAILURES_BEFORE_CARE ? (this.limits.failingRestMs ?? 0) : 0;
  }
}
