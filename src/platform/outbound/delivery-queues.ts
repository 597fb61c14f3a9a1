/** After this many failures in a row, one delivery at a time is enough to notice the recovery. */
const FAILURES_BEFORE_CARE = 4;

/** The deliveries of this process to one receiver: a few at once, in no order. */
export class ReceiverQueue {
  /** Whether the database may hold further due deliveries. */
  mayHaveMore = false;
  /** Timers that will wake this queue. */
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

  /** Whether it can take more from the database: everything queued here has started. */
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

  /** Returns the next delivery, if it may start now. */
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
   * @param pauseMs how long the receiver asked for a pause
   * @returns how long nothing will be posted; undefined when the next may start
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

  /** The pause between two posts to a receiver that keeps failing. */
  private get restMs(): number {
    return this.failuresInRow >= FAILURES_BEFORE_CARE ? (this.limits.failingRestMs ?? 0) : 0;
  }
}
/** A delivery in progress. */
export interface QueueRun {
  readonly lane: ReceiverQueue;
  readonly id: string;
  /** Receives the size of the body as soon as it is known. */
  readonly holds: (bodyBytes: number) => void;
}

/** How a run ended. */
export interface RunOutcome {
  /** Undefined when nothing was posted. */
  readonly isGood: boolean | undefined;
  /** How long the receiver asked for a pause. */
  readonly pauseMs?: number | undefined;
}

/**
 * The queues of all receivers, which share a limit on concurrent posts and on the bytes in them. Queues that wait for
 * that limit are served round-robin.
 */
export class DeliveryQueues {
  private readonly lanes = new Map<string, ReceiverQueue>();
  private readonly runs = new Map<string, Promise<void>>();
  private readonly crowdedOut = new Set<ReceiverQueue>();
  private heldBytes = 0;
  private isStopped = false;

  /** @param run posts one delivery; must not reject */
  constructor(
    private readonly limits: ReceiverQueueLimits,
    private readonly run: (run: QueueRun) => Promise<RunOutcome>,
  ) {}

  get all(): readonly ReceiverQueue[] {
    return [...this.lanes.values()];
  }

  /** Posts a delivery as soon as its queue allows. Resolves when it was posted if it could start at once, else immediately. */
  async add(receiver: string, id: string, { mayHaveMore = false } = {}): Promise<void> {
    if (this.isStopped) return;
    const lane = this.lanes.get(receiver) ?? new ReceiverQueue(receiver, this.limits);
    this.lanes.set(receiver, lane);
    if (mayHaveMore) lane.mayHaveMore = true;
    lane.add(id);
    this.pump(lane);
    await this.runs.get(id);
  }

  /** Posts a delivery after a delay, during which it is in no queue. */
  addLater(lane: ReceiverQueue, id: string, delayMs: number): void {
    this.wake(lane, delayMs, () => lane.add(id));
  }

  /** Starts nothing further and waits for running posts. */
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

  /** Moves a queue whose run ended to the end, so that those in front do not take every slot. */
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
    // Timers may fire a millisecond early.
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

/** The limits for one kind of delivery. */
export interface ReceiverQueueLimits {
  /** Concurrent posts to one receiver. */
  readonly perLane: number;
  /** Concurrent posts to all receivers, per process … */
  readonly atOnce: number;
  /** … and bytes in them. */
  readonly bytes: number;
  /** The assumed size of a post until its body is known. */
  readonly expectedBytes: number;
  /** How many deliveries a receiver's queue holds; more stay in the database. */
  readonly waiting: number;
  /** The minimum interval for a receiver that keeps failing; undefined: none. */
  readonly failingRestMs: number | undefined;
}
