import { MAX_BATCH_BYTES, MAX_POSTED_BYTES, MAX_POSTS } from './broadcast-limits.js';
import { DestinationLane } from './destination-lane.js';

/** What a post is taken to hold until its body is there. */
const EXPECTED_BODY_BYTES = 3 * MAX_BATCH_BYTES;

/** One delivery that is being made. */
export interface LaneRun {
  readonly lane: DestinationLane;
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
 * The lanes of all destinations, which share how many posts, and how many bytes in them, there may
 * be at once. Lanes that could go on but for that limit take turns.
 */
export class DeliveryLanes {
  private readonly lanes = new Map<string, DestinationLane>();
  private readonly runs = new Set<Promise<void>>();
  private readonly crowdedOut = new Set<DestinationLane>();
  private heldBytes = 0;
  private isStopped = false;

  /** @param run makes one delivery; must not reject */
  constructor(private readonly run: (run: LaneRun) => Promise<RunOutcome>) {}

  get all(): readonly DestinationLane[] {
    return [...this.lanes.values()];
  }

  /** Has a delivery made as soon as its lane allows it. */
  add(destinationId: string, id: string, { mayHaveMore = false } = {}): void {
    if (this.isStopped) return;
    const lane = this.lanes.get(destinationId) ?? new DestinationLane(destinationId);
    this.lanes.set(destinationId, lane);
    if (mayHaveMore) lane.mayHaveMore = true;
    lane.add(id);
    this.pump(lane);
  }

  /** The same after a while, in which the delivery stands in no lane. */
  addLater(lane: DestinationLane, id: string, delayMs: number): void {
    this.wake(lane, delayMs, () => lane.add(id));
  }

  /** Begins nothing any more, and waits for what runs. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.allSettled(this.runs);
  }

  private get isFull(): boolean {
    return this.runs.size >= MAX_POSTS || this.heldBytes + EXPECTED_BODY_BYTES > MAX_POSTED_BYTES;
  }

  private pump(lane: DestinationLane): void {
    while (!this.isStopped) {
      if (this.isFull) {
        this.crowdedOut.add(lane);
        return;
      }
      const id = lane.take();
      if (id === undefined) break;
      const run: Promise<void> = this.make(lane, id).finally(() => {
        this.runs.delete(run);
        this.goOn(lane);
      });
      this.runs.add(run);
    }
    if (lane.isIdle) this.lanes.delete(lane.destinationId);
  }

  /** Whose run has ended goes to the end of the line, or those in front would have all the places. */
  private goOn(lane: DestinationLane): void {
    this.crowdedOut.add(lane);
    while (!this.isFull) {
      const [next] = this.crowdedOut;
      if (!next) return;
      this.crowdedOut.delete(next);
      this.pump(next);
    }
  }

  private async make(lane: DestinationLane, id: string): Promise<void> {
    let held = EXPECTED_BODY_BYTES;
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

  private wake(lane: DestinationLane, delayMs: number, first?: () => void): void {
    lane.alarms++;
    setTimeout(() => {
      lane.alarms--;
      first?.();
      this.pump(lane);
    }, delayMs).unref();
  }
}
