import { FAILING_REST_MS, MAX_POSTS_PER_DESTINATION } from './broadcast-limits.js';

/** From so many failures in a row on, one delivery at a time is enough to learn of the end. */
const FAILURES_BEFORE_CARE = 4;
/** More than these are left in the database until there is nothing to do here. */
const MAX_WAITING = 100;

/** The deliveries of one destination that this process is to make: a few at once, in no order. */
export class DestinationLane {
  /** Whether there may be deliveries that are due and that stand nowhere here. */
  mayHaveMore = false;
  /** Timers after which it is to be looked at again. */
  alarms = 0;
  private readonly waiting = new Set<string>();
  private readonly running = new Set<string>();
  private failuresInRow = 0;
  /** On the clock of `performance.now()`. */
  private restsUntilMs = 0;

  constructor(readonly destinationId: string) {}

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
    if (this.waiting.size >= MAX_WAITING) this.mayHaveMore = true;
    else this.waiting.add(id);
  }

  /** The next delivery to make, if it may begin now. */
  take(): string | undefined {
    const isFailing = this.failuresInRow >= FAILURES_BEFORE_CARE;
    if (this.running.size >= (isFailing ? 1 : MAX_POSTS_PER_DESTINATION)) return undefined;
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
    const ownMs = this.failuresInRow >= FAILURES_BEFORE_CARE ? FAILING_REST_MS : 0;
    const restMs = Math.max(pauseMs, ownMs);
    if (restMs === 0) return undefined;
    this.restsUntilMs = Math.max(this.restsUntilMs, performance.now() + restMs);
    return restMs;
  }
}
