import { Logger } from '@nestjs/common';
import type { DueWork } from '../database/due-work.js';
import { messageOf } from '../errors/thrown.js';
import type { WorkQueue } from '../queue/work-queue.js';
import { HOUR_MS } from '../time/dates.js';
import { SweepTimer } from '../time/sweep-timer.js';
import { endsWithin } from '../time/within.js';
import { Lease } from './lease.js';
import type { Claim, RunOutcome, WorkHandler, WorkPolicy } from './work-handler.js';
import { WorkSlots, type Place, type SlotOutcome, type SlotRun } from './work-slots.js';

/** Added to delays, so that a row is due by the database's clock too. */
const CLOCK_MARGIN_MS = 25;
const MAX_DUE = 50;
const MAX_LOST = 200;
/** How long a stop waits for runs that the drain did not wait for. */
const STOP_LIMIT_MS = 1_000;
const HAND_OVER_LIMIT_MS = 1_000;

interface Running<Row> {
  readonly row: Row;
  readonly lease: Lease;
}

interface Alarm {
  readonly timer: NodeJS.Timeout;
  /** On the clock of `performance.now()`. */
  readonly atMs: number;
}

/**
 * Runs the rows of one handler: places a woken row, claims it once a slot is free, renews the claim while it runs, and
 * returns when it is due again. This process keeps the time itself, since the sweep covers its death.
 */
export class WorkTopic<Row extends Claim = Claim> {
  private readonly logger: Logger;
  private readonly slots: WorkSlots;
  private readonly running = new Set<Running<Row>>();
  private readonly alarms = new Map<string, Alarm>();
  private readonly interrupted: Row[] = [];
  private readonly sweeper = new SweepTimer(
    () => this.sweep(),
    (error) => this.logger.warn(`sweep failed: ${error.message}`),
  );
  private readonly tidier = new SweepTimer(
    () => this.handler.tidy!(),
    (error) => this.logger.warn(`old rows not removed: ${error.message}`),
  );
  private isStopping = false;
  private isAtWork = false;
  private handedOver: Promise<void> | undefined;

  constructor(
    name: string,
    private readonly handler: WorkHandler<Row>,
    readonly policy: WorkPolicy,
    private readonly queue: WorkQueue,
  ) {
    this.logger = new Logger(name);
    this.slots = new WorkSlots(policy.slots, (run) => this.run(run));
  }

  /** True when this process does the work. */
  get isOpen(): boolean {
    return this.isAtWork && !this.isStopping;
  }

  /** True when long statements should end early. */
  get isEnding(): boolean {
    return this.isStopping;
  }

  start(dueWork: DueWork): void {
    this.isAtWork = true;
    const { areLost } = this.handler;
    if (areLost !== undefined) dueWork.watch(areLost, this.sweeper);
    if (this.handler.tidy) this.tidier.start(this.policy.tidyEveryMs ?? HOUR_MS);
  }

  /** Handles a wake-up. Never rejects and does not wait for the run. */
  async offer(id: string): Promise<void> {
    try {
      if (this.isStopping) return await this.wake(id);
      const place = await this.handler.place(id);
      if (place && this.isStopping) await this.wake(id);
      else if (place) void this.add(id, place);
    } catch (error) {
      this.logger.warn(`wake-up left to the sweep: ${messageOf(error)}`);
    }
  }

  /** Runs a row as soon as its group allows. Resolves when it has run if it could start at once, else immediately. */
  add(id: string, place: Place): Promise<void> {
    return this.slots.add(id, place);
  }

  /** Wakes a process for a row. @throws Error when the queue is not reachable */
  async wake(id: string, delayMs = 0): Promise<void> {
    const { topic } = this.policy;
    if (topic === undefined) {
      if (!this.isStopping) await this.offer(id);
    } else await this.queue.wake(topic, id, delayMs > 0 ? { delayMs } : {});
  }

  /** Wakes processes for rows that no wake-up reached. Takes them here while the queue is unavailable. */
  async sweep(): Promise<void> {
    const lost = (await this.handler.takeLost?.(MAX_LOST)) ?? [];
    let hasQueue = true;
    for (const id of lost) {
      if (this.sweeper.isStopped) return;
      if (hasQueue) {
        hasQueue = await this.wake(id).then(
          () => true,
          () => false,
        );
      }
      if (!hasQueue) await this.offer(id);
    }
  }

  /** Takes nothing further, hands over what waits, and gives runs up to the limit to end. */
  async drain(limitMs: number): Promise<void> {
    this.isStopping = true;
    const ending = Promise.all([this.slots.stop(), this.sweeper.stop(), this.tidier.stop()]);
    for (const { row, lease } of this.running) {
      lease.isStopping = true;
      if (this.handler.leavesAtOnce?.(row)) lease.abandon();
    }
    this.handedOver ??= this.handOver();
    const handedOver = endsWithin(HAND_OVER_LIMIT_MS, this.handedOver);
    await Promise.all([endsWithin(limitMs, ending), handedOver]);
  }

  /** Ends the runs that are left. */
  async stop(): Promise<void> {
    await this.drain(this.policy.stops === 'after-drain' ? STOP_LIMIT_MS : 0);
    const left = [...this.running];
    this.running.clear();
    for (const { lease } of left) lease.abandon();
    const rows = [...left.map(({ row }) => row), ...this.interrupted.splice(0)];
    if (!this.policy.isRepeatable || rows.length === 0) return;
    try {
      await this.handler.release(rows, 0, false);
      await Promise.all(rows.map(({ id }) => this.wake(id)));
    } catch (error) {
      this.logger.warn(`work left to the sweep: ${messageOf(error)}`);
    }
  }

  /** Wakes another process for rows that wait here for a slot or for their time. */
  private async handOver(): Promise<void> {
    const nowMs = performance.now();
    // A process that is woken for one row of a group takes the others too.
    const most = this.handler.findDue ? 1 : Infinity;
    const groups = this.slots.all;
    const waiting = groups.flatMap(({ waitingIds }) => waitingIds.slice(0, most));
    const later = groups.flatMap((group) =>
      [...group.later].sort(([, one], [, other]) => one - other).slice(0, most),
    );
    for (const { timer } of this.alarms.values()) clearTimeout(timer);
    for (const [id, { atMs }] of this.alarms) later.push([id, atMs]);
    this.alarms.clear();
    try {
      await Promise.all([
        ...waiting.map((id) => this.wake(id)),
        ...later.map(([id, atMs]) => this.wake(id, Math.ceil(atMs - nowMs))),
      ]);
    } catch (error) {
      this.logger.warn(`wake-ups left to the sweep: ${messageOf(error)}`);
    }
  }

  private async run(slot: SlotRun): Promise<SlotOutcome> {
    let outcome: SlotOutcome = {};
    try {
      const row = this.isStopping ? undefined : await this.handler.claim(slot.id);
      if (row && this.isStopping) {
        await this.handler.release([row], 0, false);
        await this.wake(row.id);
      } else if (row) outcome = await this.runClaimed(row, slot);
      await this.refill(slot);
    } catch (error) {
      // The lease expires, and the sweep then finds the row.
      if (!this.isStopping) this.logger.warn(`run failed: ${messageOf(error)}`);
    }
    return outcome;
  }

  private async runClaimed(row: Row, slot: SlotRun): Promise<SlotOutcome> {
    const { handler, policy } = this;
    const renew = handler.renew && (() => handler.renew!(row));
    const lease = new Lease(renew, policy.renewEveryMs);
    const running = { row, lease };
    this.running.add(running);
    try {
      const outcome = await handler.run(row, lease, slot.holds);
      if (outcome.isInterrupted) this.interrupted.push(row);
      else if (outcome.afterMs !== undefined) await this.returnLater(row.id, outcome, slot);
      return outcome;
    } catch (error) {
      const { failurePauseMs } = policy;
      if (failurePauseMs === undefined || lease.signal.aborted) throw error;
      this.logger.error(error);
      await handler.release([row], failurePauseMs, true);
      await this.returnLater(row.id, { afterMs: failurePauseMs }, slot);
      return {};
    } finally {
      lease.end();
      this.running.delete(running);
      // Wake-ups of a running key are ignored.
      if (lease.signal.aborted && !this.isStopping) setImmediate(() => void this.offer(row.id));
    }
  }

  private async returnLater(
    id: string,
    { afterMs = 0, isSamePlace }: RunOutcome,
    { group }: SlotRun,
  ): Promise<void> {
    const delayMs = afterMs + CLOCK_MARGIN_MS;
    if (this.isStopping) return this.wake(id, delayMs);
    if (isSamePlace) return this.slots.addLater(group, id, delayMs);
    clearTimeout(this.alarms.get(id)?.timer);
    const timer = setTimeout(() => {
      this.alarms.delete(id);
      void this.offer(id);
    }, delayMs);
    timer.unref();
    this.alarms.set(id, { timer, atMs: performance.now() + delayMs });
  }

  /** Takes further due rows of a group whose queue here is empty. */
  private async refill({ group }: SlotRun): Promise<void> {
    if (!group.mayHaveMore || !group.isHungry || this.isStopping) return;
    // Cleared first, because rows may arrive during the query.
    group.mayHaveMore = false;
    try {
      const due = (await this.handler.findDue?.(group.name, MAX_DUE)) ?? [];
      if (due.length === MAX_DUE) group.mayHaveMore = true;
      for (const id of due) group.add(id);
    } catch (error) {
      group.mayHaveMore = true;
      throw error;
    }
  }
}
