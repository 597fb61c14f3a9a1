/** From so many failures in a row on, one delivery at a time is enough to learn of the end. */
const FAILURES_BEFORE_CARE = 4;

/** The deliveries to one receiver that this process is to make: a few at once, in no order. */
export class ReceiverQueue {
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
    private readonly limits: ReceiverQueueLimits,
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
/** One delivery that is being made. */
export interface QueueRun {
  readonly lane: ReceiverQueue;
  readonly id: string;
  /** To be told as soon as the body is there. */
  readonly holds: (bodyBytes: number) => void;
}

/** How a run has ended. */
export interface RunOutcome {
  /** Undefined when nothing was posted. */
  readonly isGood: boolean | undefined;
  /** For how long the receiver asked to be left alone. */
  readonly pauseMs?: number | undefined;
}

/**
 * The lanes of all receivers, which share how many posts, and how many bytes in them, there may
 * be at once. Lanes that could go on but for that limit take turns.
 */
export class DeliveryQueues {
  private readonly lanes = new Map<string, ReceiverQueue>();
  private readonly runs = new Map<string, Promise<void>>();
  private readonly crowdedOut = new Set<ReceiverQueue>();
  private heldBytes = 0;
  private isStopped = false;

  /** @param run makes one delivery; must not reject */
  constructor(
    private readonly limits: ReceiverQueueLimits,
    private readonly run: (run: QueueRun) => Promise<RunOutcome>,
  ) {}

  get all(): readonly ReceiverQueue[] {
    return [...this.lanes.values()];
  }

  /**
   * Has a delivery made as soon as its lane allows it. Resolves when it is made, if it could begin
   * at once, else at once.
   */
  async add(receiver: string, id: string, { mayHaveMore = false } = {}): Promise<void> {
    if (this.isStopped) return;
    const lane = this.lanes.get(receiver) ?? new ReceiverQueue(receiver, this.limits);
    this.lanes.set(receiver, lane);
    if (mayHaveMore) lane.mayHaveMore = true;
    lane.add(id);
    this.pump(lane);
    await this.runs.get(id);
  }

  /** The same after a while, in which the delivery stands in no lane. */
  addLater(lane: ReceiverQueue, id: string, delayMs: number): void {
    this.wake(lane, delayMs, () => lane.add(id));
  }

  /** Begins nothing any more, and waits for what runs. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.allSettled(this.runs.values());
  }

  private get isFull(): boolean {
    const { atOnce, bytes, expectedBytes } = this.limits;
    return this.runs.size >= atOnce || this.heldBytes + expectedBytes > bytes;
  }

  private pump(lane: ReceiverQueue): void {
    while (!this.isStopped) {
      if (this.isFull) {
        this.crowdedOut.add(lane);
        return;
      }
      const id = lane.take();
      if (id === undefined) break;
      const run = this.make(lane, id).finally(() => {
        this.runs.delete(id);
        this.goOn(lane);
      });
      this.runs.set(id, run);
    }
    if (lane.isIdle) this.lanes.delete(lane.receiver);
  }

  /** Whose run has ended goes to the end of the line, or those in front would have all the places. */
  private goOn(lane: ReceiverQueue): void {
    this.crowdedOut.add(lane);
    while (!this.isFull) {
      const [next] = this.crowdedOut;
      if (!next) return;
      this.crowdedOut.delete(next);
      this.pump(next);
    }
  }

  private async make(lane: ReceiverQueue, id: string): Promise<void> {
    let held = this.limits.expectedBytes;
    this.heldBytes += held;
    const holds = (bodyBytes: number): void => {
      this.heldBytes += bodyBytes - held;
      held = bodyBytes;
    };
    const { isGood, pauseMs } = await this.run({ lane, id, holds });
    holds(0);
    const restMs = lane.finish(id, isGood, pauseMs);
    // Timers may be early by a millisecond.
    if (restMs !== undefined) this.wake(lane, restMs + 2);
  }

  private wake(lane: ReceiverQueue, delayMs: number, first?: () => void): void {
    lane.alarms++;
    setTimeout(() => {
      lane.alarms--;
      first?.();
      this.pump(lane);
    }, delayMs).unref();
  }
}

/** What the lanes of one kind of delivery may do. */
export interface ReceiverQueueLimits {
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
