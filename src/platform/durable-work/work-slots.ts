import { FairQueue } from '../queue/fair-queue.js';

/** After this many failures in a row, one run at a time is enough to notice the recovery. */
const FAILURES_BEFORE_CARE = 4;

export interface SlotLimits {
  /** Concurrent runs of one group. */
  readonly perGroup: number;
  /** Concurrent runs of all groups, per process … */
  readonly atOnce: number;
  /** … and bytes in them; unlimited by default. */
  readonly bytes?: number;
  /** The assumed size of a run until its body is known; 0 by default. */
  readonly expectedBytes?: number;
  /** How many keys of one owner wait in a group; more stay in the database. */
  readonly waiting: number;
  /** The minimum interval for a group that keeps failing; none by default. */
  readonly failingRestMs?: number;
}

/** The keys of this process that share a group's slots. Owners take turns. */
export class SlotGroup {
  /** True when the database may hold further due rows. */
  mayHaveMore = false;
  /** Timers that will wake this group. */
  alarms = 0;
  /** Keys that return after a delay, with their times on the clock of `performance.now()`. */
  readonly later = new Map<string, number>();
  private readonly waiting: FairQueue<string>;
  /** Owners by key. */
  private readonly running = new Map<string, string>();
  private failuresInRow = 0;
  /** On the clock of `performance.now()`. */
  private restsUntilMs = 0;

  constructor(
    readonly name: string,
    private readonly limits: SlotLimits,
  ) {
    this.waiting = new FairQueue(limits.waiting);
  }

  get isIdle(): boolean {
    return this.waiting.size === 0 && this.running.size === 0 && this.alarms === 0;
  }

  /** True when it can take more from the database: everything queued here has started. */
  get isHungry(): boolean {
    return this.waiting.size === 0;
  }

  get waitingIds(): readonly string[] {
    return this.waiting.all;
  }

  /** Queues a key once; one that is running is ignored. */
  add(id: string, owner = ''): void {
    if (this.running.has(id)) return;
    if (!this.waiting.add(owner, id)) this.mayHaveMore = true;
  }

  /** Returns the owner of a running key. */
  ownerOf(id: string): string | undefined {
    return this.running.get(id);
  }

  /** Returns the next key, if it may start now. */
  take(): string | undefined {
    if (this.running.size >= (this.restMs > 0 ? 1 : this.limits.perGroup)) return undefined;
    if (performance.now() < this.restsUntilMs) return undefined;
    let owner = '';
    const id = this.waiting.take((next) => {
      owner = next;
      return true;
    });
    if (id !== undefined) this.running.set(id, owner);
    return id;
  }

  /**
   * @param isGood undefined when the run says nothing about the group
   * @param pauseMs how long the group asked for a pause
   * @returns how long nothing will start; undefined when the next may start
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

  /** The pause between two runs of a group that keeps failing. */
  private get restMs(): number {
    return this.failuresInRow >= FAILURES_BEFORE_CARE ? (this.limits.failingRestMs ?? 0) : 0;
  }
}

/** A run in its slot. */
export interface SlotRun {
  readonly group: SlotGroup;
  readonly id: string;
  /** Receives the size of the body as soon as it is known. */
  readonly holds: (bodyBytes: number) => void;
}

/** How a run ended, for its group. */
export interface SlotOutcome {
  /** Undefined when the run says nothing about the group. */
  readonly isGood?: boolean | undefined;
  /** How long the group asked for a pause. */
  readonly pauseMs?: number | undefined;
}

/** Where a key runs. */
export interface Place {
  /** Keys of one group share its slots. */
  readonly group: string;
  /** Owners in a group take turns. */
  readonly owner?: string;
  /** True when the database may hold other due rows of the group. */
  readonly mayHaveMore?: boolean;
}

/**
 * The groups of all keys, which share a limit on concurrent runs and on the bytes in them. Groups that wait for
 * that limit are served round-robin.
 */
export class WorkSlots {
  private readonly groups = new Map<string, SlotGroup>();
  /** By key and group: a row that moves on may still wait in its former group. */
  private readonly runs = new Map<string, Promise<void>>();
  private readonly crowdedOut = new Set<SlotGroup>();
  private heldBytes = 0;
  private isStopped = false;

  /** @param run runs one key; must not reject */
  constructor(
    private readonly limits: SlotLimits,
    private readonly run: (run: SlotRun) => Promise<SlotOutcome>,
  ) {}

  get all(): readonly SlotGroup[] {
    return [...this.groups.values()];
  }

  /** Runs a key as soon as its group allows. Resolves when it has run if it could start at once, else immediately. */
  async add(id: string, { group: name, owner, mayHaveMore = false }: Place): Promise<void> {
    if (this.isStopped) return;
    const group = this.groups.get(name) ?? new SlotGroup(name, this.limits);
    this.groups.set(name, group);
    if (mayHaveMore) group.mayHaveMore = true;
    group.add(id, owner);
    this.pump(group);
    await this.runs.get(`${id} ${name}`);
  }

  /** Runs a running key again after a delay, for the same owner. */
  addLater(group: SlotGroup, id: string, delayMs: number): void {
    const owner = group.ownerOf(id);
    group.later.set(id, performance.now() + delayMs);
    this.wake(group, delayMs, () => {
      group.later.delete(id);
      group.add(id, owner);
    });
  }

  /** Starts nothing further and waits for running work. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.allSettled(this.runs.values());
  }

  private get isFull(): boolean {
    const { atOnce, bytes = Infinity, expectedBytes = 0 } = this.limits;
    return this.runs.size >= atOnce || this.heldBytes + expectedBytes > bytes;
  }

  private pump(group: SlotGroup): void {
    while (!this.isStopped) {
      if (this.isFull) {
        this.crowdedOut.add(group);
        return;
      }
      const id = group.take();
      if (id === undefined) break;
      const key = `${id} ${group.name}`;
      const run = this.start(group, id).finally(() => {
        this.runs.delete(key);
        this.pass(group);
      });
      this.runs.set(key, run);
    }
    if (group.isIdle && this.groups.get(group.name) === group) this.groups.delete(group.name);
  }

  /** Moves a group whose run ended to the end, so that those in front do not take every slot. */
  private pass(group: SlotGroup): void {
    this.crowdedOut.add(group);
    while (!this.isFull) {
      const [next] = this.crowdedOut;
      if (!next) return;
      this.crowdedOut.delete(next);
      this.pump(next);
    }
  }

  private async start(group: SlotGroup, id: string): Promise<void> {
    const { expectedBytes = 0 } = this.limits;
    let held = expectedBytes;
    this.heldBytes += held;
    const holds = (bodyBytes: number): void => {
      this.heldBytes += bodyBytes - held;
      held = bodyBytes;
    };
    const { isGood, pauseMs } = await this.run({ group, id, holds });
    holds(0);
    const restMs = group.finish(id, isGood, pauseMs);
    // Timers may fire a millisecond early.
    if (restMs !== undefined) this.wake(group, restMs + 2);
  }

  private wake(group: SlotGroup, delayMs: number, first?: () => void): void {
    group.alarms++;
    setTimeout(() => {
      group.alarms--;
      first?.();
      this.pump(group);
    }, delayMs).unref();
  }
}
