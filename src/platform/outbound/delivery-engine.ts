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
/** Whoever comes again should not do so before the delivery is due by the database's clock. */
const CLOCK_MARGIN_MS = 25;
const MAX_DUE = 50;
/** How long a stop waits for receivers that may still answer. */
const STOP_LIMIT_MS = 1_000;

/** A delivery that this process has taken, for one attempt. */
export interface TakenDelivery {
  readonly id: string;
  /** This one included. */
  readonly attempts: number;
}

/** Why a delivery is given up: a reason for the figures, and words for the tenant. */
export interface Drop<Reason extends string = string> {
  readonly reason: Reason | 'refused' | 'exhausted';
  readonly words: string;
}

/** Where the deliveries of one kind are kept, and how one is posted. */
export interface DeliveryWork<Delivery extends TakenDelivery, Reason extends string> {
  /** Undefined when the delivery is not due, done, or in other hands. */
  take(id: string): Promise<Delivery | undefined>;
  /** Why it is not to be posted any more, if it is not. */
  findDrop?(delivery: Delivery): Drop<Reason> | undefined;
  /** @param holds to be told how many bytes the body has, as soon as it is there */
  post(delivery: Delivery, holds: (bytes: number) => void): Promise<OutboundOutcome>;
  complete(delivery: Delivery, answer: string | undefined): Promise<void>;
  /** Notes that it is due again after so long; the engine comes back by itself. */
  retryLater(delivery: Delivery, delayMs: number, words: string): Promise<void>;
  drop(delivery: Delivery, drop: Drop<Reason>): Promise<void>;
  /** Ids that are due at one receiver, the longest due first. */
  findDue?(receiver: string, limit: number): Promise<string[]>;
  /** Takes back what was broken off: those attempts did not count, and are due at once. */
  giveBack(ids: readonly string[]): Promise<void>;
  /** Wakes another process for a delivery. */
  wake(id: string): Promise<void>;
}

export interface DeliveryPolicy {
  readonly lanes: ReceiverQueueLimits;
  /** After so many a delivery is given up; 5 unless told, which are 15 seconds. */
  readonly maxAttempts?: number;
  /** Before the second attempt; it doubles with each that follows. 1,000 unless told. */
  readonly firstRetryMs?: number;
  /** A receiver that asks to be left alone for longer is asked again all the same. */
  readonly maxRetryAfterMs: number;
  /** Statuses that say, beyond what the client knows, that the request will not do better later. */
  readonly finalStatuses: ReadonlySet<number>;
}

/**
 * Makes deliveries to addresses of tenants: each receiver has a lane of its own in each process, and
 * a delivery that is to be tried again stands in none until it is due. What a process puts off it
 * keeps in mind itself; the rows, which a sweep looks through, are there for when it dies.
 */
export class DeliveryEngine<Delivery extends TakenDelivery, Reason extends string = never> {
  private readonly lanes: DeliveryQueues;
  /** Posts that the stop of this process broke off. */
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
   * Has a delivery made as soon as its lane allows it.
   *
   * @param options.mayHaveMore whether there may be others for this receiver that nobody came for
   * @returns resolves when it is made, if it could begin at once, else at once; never rejects
   */
  add(receiver: string, id: string, options?: { mayHaveMore: boolean }): Promise<void> {
    return this.lanes.add(receiver, id, options);
  }

  /**
   * Begins nothing any more, waits for a moment, and leaves what is not done to other processes.
   *
   * @param sweeps end along with it
   */
  async stop(...sweeps: readonly SweepTimer[]): Promise<void> {
    this.isStopped = true;
    const stopping = [this.lanes.stop(), ...sweeps.map((sweep) => sweep.stop())];
    await endsWithin(STOP_LIMIT_MS, Promise.all(stopping));
    const lanes = this.lanes.all;
    const left = [...lanes.flatMap(({ claimedIds }) => claimedIds), ...this.brokenOff];
    // Whoever is woken for one of a receiver's deliveries goes on with the others.
    const woken = lanes.flatMap((lane) => [...lane.claimedIds, ...lane.waitingIds].slice(0, 1));
    // Whoever is next sends them again under the same idempotency key.
    try {
      if (left.length > 0) await this.work.giveBack(left);
      for (const id of new Set([...woken, ...this.brokenOff])) await this.work.wake(id);
    } catch (error) {
      this.logger.warn(`Deliveries were not given back: ${messageOf(error)}`);
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
      // The lease ends by itself, and the sweep finds what is due then.
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
    // Each attempt before one too many ended with the process that made it.
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
    // Whoever stops the process closes connections too: that says nothing about the receiver.
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
const CUT_OFF: Drop<never> = { reason: 'exhausted', words: 'no attempt came to its end' };
