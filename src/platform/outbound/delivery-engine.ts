import type { Logger } from '@nestjs/common';
import type { SweepTimer } from '../time/sweep-timer.js';
import { endsWithin } from '../time/within.js';
import {
  DeliveryQueues,
  type QueueRun,
  type RunOutcome,
  type ReceiverQueue,
  type ReceiverQueueLimits,
} from './delivery-queues.js';
import type { OutboundOutcome } from './outbound-client.js';
import { messageOf } from '../errors/thrown.js';

const MAX_ATTEMPTS = 5;
const FIRST_RETRY_MS = 1_000;
/** Added to delays, so that a retry is due by the database's clock too. */
const CLOCK_MARGIN_MS = 25;
const MAX_DUE = 50;
/** How long a stop waits for receivers to answer. */
const STOP_LIMIT_MS = 1_000;

/** A delivery that this process has claimed for one attempt. */
export interface TakenDelivery {
  readonly id: string;
  /** Attempts so far, this one included. */
  readonly attempts: number;
}

/** Why a delivery is dropped: a reason for metrics and a text for the tenant. */
export interface Drop<Reason extends string = string> {
  readonly reason: Reason | 'refused' | 'exhausted';
  readonly words: string;
}

/** Stores the deliveries of one kind and posts them. */
export interface DeliveryWork<Delivery extends TakenDelivery, Reason extends string> {
  /** Claims a delivery; undefined when it is not due, done, or claimed elsewhere. */
  take(id: string): Promise<Delivery | undefined>;
  /** Returns why the delivery must not be posted any more, if so. */
  findDrop?(delivery: Delivery): Drop<Reason> | undefined;
  /** @param holds receives the size of the body in bytes as soon as it is known */
  post(delivery: Delivery, holds: (bytes: number) => void): Promise<OutboundOutcome>;
  complete(delivery: Delivery, answer: string | undefined): Promise<void>;
  /** Records when the delivery is due again; the engine schedules the retry itself. */
  retryLater(delivery: Delivery, delayMs: number, words: string): Promise<void>;
  drop(delivery: Delivery, drop: Drop<Reason>): Promise<void>;
  /** Returns ids that are due at one receiver, the longest due first. */
  findDue?(receiver: string, limit: number): Promise<string[]>;
  /** Releases interrupted deliveries: those attempts do not count, and they are due at once. */
  giveBack(ids: readonly string[]): Promise<void>;
  /** Wakes another process for a delivery. */
  wake(id: string): Promise<void>;
}

export interface DeliveryPolicy {
  readonly lanes: ReceiverQueueLimits;
  /** Attempts before a delivery is dropped; 5 by default, which takes 15 seconds. */
  readonly maxAttempts?: number;
  /** Delay before the second attempt, doubled for each further one; 1,000 by default. */
  readonly firstRetryMs?: number;
  /** The longest `Retry-After` that is honored. */
  readonly maxRetryAfterMs: number;
  /** Final statuses, beyond those of the client, for which a retry cannot help. */
  readonly finalStatuses: ReadonlySet<number>;
}

/**
 * Posts deliveries to tenants' addresses. Each receiver has its own queue per process, and a delivery waiting for its
 * retry is in none. A process schedules its own retries; the rows, which a sweep reads, cover its
 * death.
 */
export class DeliveryEngine<Delivery extends TakenDelivery, Reason extends string = never> {
  private readonly lanes: DeliveryQueues;
  /** Posts that the stop of this process interrupted. */
  private readonly brokenOff = new Set<string>();
  private isStopped = false;

  constructor(
    private readonly work: DeliveryWork<Delivery, Reason>,
    private readonly policy: DeliveryPolicy,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.lanes = new DeliveryQueues(policy.lanes, (run) => this.run(run));
  }

  private get maxAttempts(): number {
    return this.policy.maxAttempts ?? MAX_ATTEMPTS;
  }

  /**
   * Posts a delivery as soon as its queue allows.
   *
   * @param options.mayHaveMore whether the database may hold others for this receiver
   * @returns resolves when it was posted if it could start at once, else immediately; never rejects
   */
  add(receiver: string, id: string, options?: { mayHaveMore: boolean }): Promise<void> {
    return this.lanes.add(receiver, id, options);
  }

  /**
   * Starts nothing further, waits briefly, and leaves the rest to other processes.
   *
   * @param sweeps stopped along with it
   */
  async stop(...sweeps: readonly SweepTimer[]): Promise<void> {
    this.isStopped = true;
    const stopping = [this.lanes.stop(), ...sweeps.map((sweep) => sweep.stop())];
    await endsWithin(STOP_LIMIT_MS, Promise.all(stopping));
    const lanes = this.lanes.all;
    const left = [...lanes.flatMap(({ claimedIds }) => claimedIds), ...this.brokenOff];
    // A process that is woken for one of a receiver's deliveries takes the others too.
    const woken = lanes.flatMap((lane) => [...lane.claimedIds, ...lane.waitingIds].slice(0, 1));
    // They are sent again under the same idempotency key.
    try {
      if (left.length > 0) await this.work.giveBack(left);
      for (const id of new Set([...woken, ...this.brokenOff])) await this.work.wake(id);
    } catch (error) {
      this.logger.warn(`Deliveries were not released: ${messageOf(error)}`);
    }
  }

  private async run({ lane, id, holds }: QueueRun): Promise<RunOutcome> {
    let outcome: RunOutcome = NOT_POSTED;
    try {
      const delivery = this.isStopped ? undefined : await this.work.take(id);
      if (delivery) outcome = await this.attempt(lane, delivery, holds);
      if (lane.mayHaveMore && lane.isHungry && !this.isStopped) {
        const due = (await this.work.findDue?.(lane.receiver, MAX_DUE)) ?? [];
        lane.mayHaveMore = due.length === MAX_DUE;
        for (const each of due) lane.add(each);
      }
    } catch (error) {
      // The lease expires, and the sweep then finds the due rows.
      if (!this.isStopped) this.logger.warn(`A delivery failed here: ${messageOf(error)}`);
    }
    return outcome;
  }

  private async attempt(
    lane: ReceiverQueue,
    delivery: Delivery,
    holds: QueueRun['holds'],
  ): Promise<RunOutcome> {
    const { id, attempts } = delivery;
    // Each earlier attempt ended with the process that made it.
    const drop =
      this.work.findDrop?.(delivery) ?? (attempts > this.maxAttempts ? CUT_OFF : undefined);
    if (drop) {
      await this.work.drop(delivery, drop);
      return NOT_POSTED;
    }
    const outcome = await this.work.post(delivery, holds);
    if (outcome.ok) {
      await this.work.complete(delivery, outcome.answer);
      return { isGood: true };
    }
    // A stop closes connections too, which says nothing about the receiver.
    if (this.isStopped) {
      this.brokenOff.add(id);
      return NOT_POSTED;
    }
    const { reason: words, status = 0, retryable, retryAfterMs = 0 } = outcome;
    const pauseMs = Math.min(retryAfterMs, this.policy.maxRetryAfterMs);
    if (!retryable || this.policy.finalStatuses.has(status)) {
      await this.work.drop(delivery, { reason: 'refused', words });
    } else if (attempts >= this.maxAttempts) {
      await this.work.drop(delivery, { reason: 'exhausted', words });
    } else {
      const { firstRetryMs = FIRST_RETRY_MS } = this.policy;
      const delayMs = Math.max(firstRetryMs * 2 ** (attempts - 1), pauseMs);
      await this.work.retryLater(delivery, delayMs, words);
      this.lanes.addLater(lane, id, delayMs + CLOCK_MARGIN_MS);
    }
    return { isGood: false, pauseMs };
  }
}

const NOT_POSTED: RunOutcome = { isGood: undefined };
const CUT_OFF: Drop<never> = { reason: 'exhausted', words: 'no attempt finished' };
