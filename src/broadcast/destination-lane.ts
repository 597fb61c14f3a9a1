import { MAX_POSTS_PER_DESTINATION } from './broadcast-limits.js';

/** From so many failures in a row on, one delivery at a time is enough to learn of the end. */
const FAILURES_BEFORE_CARE = 4;

/** The deliveries of one destination that this process is to make: a few at once, in no order. */
export class DestinationLane {
  private readonly waiting = new Set<string>();
  private readonly running = new Set<string>();
  private failuresInRow = 0;

  constructor(readonly destinationId: string) {}

  get isIdle(): boolean {
    return this.waiting.size === 0 && this.running.size === 0;
  }

  /** Whether more may be asked for: all that waited here has begun. */
  get isHungry(): boolean {
    return this.waiting.size === 0;
  }

  get claimedIds(): readonly string[] {
    return [...this.running];
  }

  add(id: string): void {
    if (!this.running.has(id)) this.waiting.add(id);
  }

  /** The next delivery to make, if it may begin now. */
  take(): string | undefined {
    const width = this.failuresInRow >= FAILURES_BEFORE_CARE ? 1 : MAX_POSTS_PER_DESTINATION;
    if (this.running.size >= width) return undefined;
    const [id] = this.waiting;
    if (id === undefined) return undefined;
    this.waiting.delete(id);
    this.running.add(id);
    return id;
  }

  /** @param isGood undefined when nothing was posted */
  finish(id: string, isGood: boolean | undefined): void {
    this.running.delete(id);
    if (isGood === true) this.failuresInRow = 0;
    else if (isGood === false) this.failuresInRow++;
  }
}
