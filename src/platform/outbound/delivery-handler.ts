import type { Lease } from '../durable-work/lease.js';
import type { Claim, RunOutcome, WorkHandler } from '../durable-work/work-handler.js';
import type { Place } from '../durable-work/work-slots.js';
import type { OutboundOutcome } from './outbound-client.js';

const MAX_ATTEMPTS = 5;
const FIRST_RETRY_MS = 1_000;

/** A delivery claimed for one attempt. */
export interface TakenDelivery extends Claim {
  /** Attempts so far, this one included. */
  readonly attempts: number;
}

/** Why a delivery is dropped: a reason for metrics and a text for the tenant. */
export interface Drop<Reason extends string = string> {
  readonly reason: Reason | 'refused' | 'exhausted';
  readonly words: string;
}

export interface DeliveryPolicy {
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
 * Posts deliveries of one kind to tenants' addresses. Each receiver is a group: its failures delay no other. An attempt
 * ends well within its lease, and repeated ones carry the same idempotency key.
 */
export abstract class DeliveryHandler<
  Delivery extends TakenDelivery,
  Reason extends string = never,
> implements WorkHandler<Delivery> {
  protected abstract readonly deliveryPolicy: DeliveryPolicy;

  abstract place(id: string): Promise<Place | undefined>;
  abstract claim(id: string): Promise<Delivery | undefined>;
  /** Makes deliveries due again. Interrupted attempts do not count. */
  abstract release(deliveries: readonly Delivery[]): Promise<void>;
  /** Returns why the delivery must not be posted any more, if so. */
  findDrop?(delivery: Delivery): Drop<Reason> | undefined;
  /** @param holds receives the size of the body in bytes as soon as it is known */
  abstract post(delivery: Delivery, holds: (bytes: number) => void): Promise<OutboundOutcome>;
  abstract complete(delivery: Delivery, answer: string | undefined): Promise<void>;
  /** Records when the delivery is due again. */
  abstract retryLater(delivery: Delivery, delayMs: number, words: string): Promise<void>;
  abstract drop(delivery: Delivery, drop: Drop<Reason>): Promise<void>;

  async run(delivery: Delivery, lease: Lease, holds: (bytes: number) => void): Promise<RunOutcome> {
    const { attempts } = delivery;
    const { maxAttempts = MAX_ATTEMPTS, firstRetryMs = FIRST_RETRY_MS } = this.deliveryPolicy;
    // Each earlier attempt ended with the process that made it.
    const drop = this.findDrop?.(delivery) ?? (attempts > maxAttempts ? CUT_OFF : undefined);
    if (drop) {
      await this.drop(delivery, drop);
      return {};
    }
    const outcome = await this.post(delivery, holds);
    if (outcome.ok) {
      await this.complete(delivery, outcome.answer);
      return { isGood: true };
    }
    // A stop closes connections too, which says nothing about the receiver.
    if (lease.isStopping) return { isInterrupted: true };
    const { reason: words, status = 0, retryable, retryAfterMs = 0 } = outcome;
    const { maxRetryAfterMs, finalStatuses } = this.deliveryPolicy;
    const pauseMs = Math.min(retryAfterMs, maxRetryAfterMs);
    const failed = { isGood: false, pauseMs };
    if (!retryable || finalStatuses.has(status)) {
      await this.drop(delivery, { reason: 'refused', words });
      return failed;
    }
    if (attempts >= maxAttempts) {
      await this.drop(delivery, { reason: 'exhausted', words });
      return failed;
    }
    const afterMs = Math.max(firstRetryMs * 2 ** (attempts - 1), pauseMs);
    await this.retryLater(delivery, afterMs, words);
    return { ...failed, afterMs, isSamePlace: true };
  }
}

const CUT_OFF: Drop<never> = { reason: 'exhausted', words: 'no attempt finished' };
