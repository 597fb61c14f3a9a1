import { setTimeout as wait } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { OutboundClient, type OutboundOutcome } from '../../platform/outbound/outbound-client.js';
import { WorkQueue } from '../../platform/queue/work-queue.js';
import {
  DELIVERY_TIMEOUT_MS,
  FINAL_STATUSES,
  FIRST_RETRY_MS,
  MAX_ATTEMPTS,
  MAX_DELIVERY_AGE_MS,
  MAX_POSTS_PER_DESTINATION,
  MAX_RETRY_AFTER_MS,
} from './broadcast-limits.js';
import { BroadcastMetrics, type DropReason } from './broadcast-metrics.js';
import { deliveryHeaders, HEADERS_UNREADABLE } from './delivery-headers.js';
import { DeliveryLanes, type LaneRun, type RunOutcome } from './delivery-lanes.js';
import {
  DeliveryRepository,
  type ClaimedDelivery,
  type WrittenDelivery,
} from './delivery.repository.js';
import type { DestinationLane } from './destination-lane.js';
import { HeaderBox } from './header-box.js';
import { readPartialSuccess, type PartialSuccess } from './partial-success.js';
import { RenderedBatches } from './rendered-batches.service.js';

const SWEEP_INTERVAL_MS = 15_000;
/** A delivery that is due for so long has lost who was to make it. */
const OVERDUE_MS = 5_000;
const MAX_DUE = 50;
/** Whoever comes again should not do so before the delivery is due by the database's clock. */
const CLOCK_MARGIN_MS = 25;
/** Consumers only hand deliveries on, so that none waits for a receiver. */
const CONSUMERS = 16;
/** How long a stop waits for receivers that may still answer. */
const STOP_LIMIT_MS = 1_000;

/** The service's secret was changed: the tenant has to set the headers anew. */
const UNREADABLE_HEADERS: OutboundOutcome = {
  ok: false,
  reason: HEADERS_UNREADABLE,
  retryable: false,
  status: undefined,
};

/**
 * Makes the deliveries: each destination has a lane of its own in each process, and a delivery that
 * is to be tried again stands in none until it is due. What a process writes or puts off it keeps in
 * mind itself; the rows, which the sweep looks through, are there for when it dies.
 */
@Injectable()
export class DeliveryService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryService.name);
  private readonly lanes = new DeliveryLanes((run) => this.run(run));
  /** Posts that the stop of this process broke off. */
  private readonly brokenOff = new Set<string>();
  private sweeper: NodeJS.Timeout | undefined;
  private isAtWork = false;
  private isStopped = false;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly queue: WorkQueue,
    private readonly client: OutboundClient,
    private readonly headers: HeaderBox,
    private readonly batches: RenderedBatches,
    private readonly metrics: BroadcastMetrics,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue'>,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.queue.consume) return;
    await this.queue.consume('broadcast', (id) => this.consume(id), { concurrency: CONSUMERS });
    this.isAtWork = true;
    this.sweeper = setInterval(() => void this.sweepNow(), SWEEP_INTERVAL_MS);
    this.sweeper.unref();
    // What a process before this one left behind.
    void this.sweepNow(0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.sweeper);
    await Promise.race([this.lanes.stop(), wait(STOP_LIMIT_MS, undefined, { ref: false })]);
    const lanes = this.lanes.all;
    const left = [...lanes.flatMap(({ claimedIds }) => claimedIds), ...this.brokenOff];
    // Whoever is woken for one of a destination's deliveries goes on with the others.
    const woken = lanes.flatMap((lane) => [...lane.claimedIds, ...lane.waitingIds].slice(0, 1));
    // Whoever is next sends them again under the same idempotency key.
    try {
      if (left.length > 0) await this.deliveries.giveBack(left);
      for (const id of new Set([...woken, ...this.brokenOff])) {
        await this.queue.wake('broadcast', id);
      }
    } catch (error) {
      this.logger.warn(`Deliveries were not given back: ${(error as Error).message}`);
    }
  }

  /** Has a delivery made that was just written down, here or where the background work is done. */
  take({ id, destinationId, dueBefore }: WrittenDelivery): void {
    if (this.isAtWork && !this.isStopped) {
      this.lanes.add(destinationId, id);
      return;
    }
    // Where so many are due, somebody is at work on them, who finds this one too.
    if (dueBefore >= MAX_POSTS_PER_DESTINATION) return;
    // Nobody waits for it: should the queue be away, the sweep finds the delivery.
    this.queue.wake('broadcast', id).catch((error: unknown) => {
      this.logger.warn(`No worker was woken for traces: ${(error as Error).message}`);
    });
  }

  /** Goes on with deliveries that nobody came for; a lane goes on by itself from there. */
  async sweepNow(overdueMs = OVERDUE_MS): Promise<void> {
    try {
      for (const { id, destinationId } of await this.deliveries.findOverdue(overdueMs)) {
        this.lanes.add(destinationId, id, { mayHaveMore: true });
      }
      await this.deliveries.removeSpentBatches();
    } catch (error) {
      this.logger.warn(`The sweep of trace deliveries failed: ${(error as Error).message}`);
    }
  }

  private async consume(id: string): Promise<void> {
    const destinationId = await this.deliveries.findDestinationOfDue(id);
    if (destinationId !== undefined) this.lanes.add(destinationId, id, { mayHaveMore: true });
  }

  private async run({ lane, id, holds }: LaneRun): Promise<RunOutcome> {
    let outcome: RunOutcome = NOT_POSTED;
    try {
      const delivery = await this.deliveries.claim(id);
      if (delivery) outcome = await this.attempt(lane, delivery, holds);
      if (lane.mayHaveMore && lane.isHungry && !this.isStopped) {
        const due = await this.deliveries.findDue(lane.destinationId, MAX_DUE);
        lane.mayHaveMore = due.length === MAX_DUE;
        for (const each of due) lane.add(each);
      }
    } catch (error) {
      // The lease ends by itself, and the sweep finds what is due then.
      if (!this.isStopped) {
        this.logger.warn(`A delivery of traces failed here: ${(error as Error).message}`);
      }
    }
    return outcome;
  }

  private async attempt(
    lane: DestinationLane,
    delivery: ClaimedDelivery,
    holds: LaneRun['holds'],
  ): Promise<RunOutcome> {
    if (!delivery.isEnabled) {
      await this.drop(delivery, 'disabled', 'the destination is disabled');
      return NOT_POSTED;
    }
    if (delivery.ageMs > MAX_DELIVERY_AGE_MS) {
      await this.drop(delivery, 'expired', 'the traces waited for too long');
      return NOT_POSTED;
    }
    // Each attempt before this one ended with the process that made it.
    if (delivery.attempts > MAX_ATTEMPTS) {
      await this.drop(delivery, 'exhausted', 'no attempt came to its end');
      return NOT_POSTED;
    }
    const outcome = await this.post(delivery, holds);
    this.metrics.countAttempt(outcome.ok ? 'delivered' : 'failed');
    if (outcome.ok) {
      await this.complete(delivery, readPartialSuccess(outcome.answer));
      return { isGood: true };
    }
    // Whoever stops the process closes connections too: that says nothing about the receiver.
    if (this.isStopped) {
      this.brokenOff.add(delivery.id);
      return NOT_POSTED;
    }
    const pauseMs = Math.min(outcome.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
    if (!outcome.retryable || FINAL_STATUSES.has(outcome.status ?? 0)) {
      await this.drop(delivery, 'refused', outcome.reason);
    } else if (delivery.attempts >= MAX_ATTEMPTS) {
      await this.drop(delivery, 'exhausted', outcome.reason);
    } else {
      const delayMs = Math.max(FIRST_RETRY_MS * 2 ** (delivery.attempts - 1), pauseMs);
      await this.deliveries.retryLater(delivery.id, delayMs, outcome.reason);
      this.lanes.addLater(lane, delivery.id, delayMs + CLOCK_MARGIN_MS);
    }
    return { isGood: false, pauseMs };
  }

  private async post(
    { id, destinationId, batchId, url, sealedHeaders, includesContent }: ClaimedDelivery,
    holds: LaneRun['holds'],
  ): Promise<OutboundOutcome> {
    const own = this.headers.unseal(sealedHeaders, destinationId);
    if (!own) return UNREADABLE_HEADERS;
    const body = await this.batches.of(batchId, { includesContent });
    holds(body.length);
    const headers = deliveryHeaders(own, id);
    return this.client.post({
      url,
      headers,
      body,
      timeoutMs: DELIVERY_TIMEOUT_MS,
      readsAnswer: true,
    });
  }

  private async complete(
    { id, traceCount }: ClaimedDelivery,
    partial: PartialSuccess | undefined,
  ): Promise<void> {
    // Which traces they belong to is not told; each is at most of one.
    const rejected = Math.min(partial?.rejectedSpans ?? 0, traceCount);
    if (!(await this.deliveries.complete(id, rejected, partial?.reason))) return;
    this.metrics.countDelivered(traceCount - rejected);
    if (rejected > 0) this.metrics.countDropped('rejected', rejected);
  }

  private async drop(
    { id, traceCount }: ClaimedDelivery,
    reason: DropReason,
    words: string,
  ): Promise<void> {
    if (await this.deliveries.drop(id, words)) this.metrics.countDropped(reason, traceCount);
  }
}

const NOT_POSTED: RunOutcome = { isGood: undefined };
