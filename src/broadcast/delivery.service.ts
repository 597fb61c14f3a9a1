import { setTimeout as wait } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { OutboundClient, type OutboundOutcome } from '../outbound/outbound-client.js';
import { WorkQueue } from '../queue/work-queue.js';
import {
  DELIVERY_TIMEOUT_MS,
  FIRST_RETRY_MS,
  MAX_ATTEMPTS,
  MAX_DELIVERY_AGE_MS,
  MAX_POSTS,
} from './broadcast-limits.js';
import { BroadcastMetrics, type DropReason } from './broadcast-metrics.js';
import { deliveryHeaders } from './delivery-headers.js';
import { DeliveryRepository, type ClaimedDelivery } from './delivery.repository.js';
import { DestinationLane } from './destination-lane.js';
import { HeaderBox } from './header-box.js';
import { RenderedBatches } from './rendered-batches.service.js';

const SWEEP_INTERVAL_MS = 15_000;
/** A wake-up that is this late is taken to be lost. */
const OVERDUE_MS = 5_000;
const MAX_DUE = 50;
/** A delayed wake-up should not come before the delivery is due by the database's clock. */
const CLOCK_MARGIN_MS = 25;
/** Consumers only hand deliveries on, so that none waits for a receiver. */
const CONSUMERS = 16;
/** How long a stop waits for receivers that may still answer. */
const STOP_LIMIT_MS = 1_000;

/** The service's secret was changed: the tenant has to set the headers anew. */
const UNREADABLE_HEADERS: OutboundOutcome = {
  ok: false,
  reason: 'could not be asked, because its headers cannot be read any more: set them again',
  retryable: false,
  status: undefined,
};

/**
 * Makes the deliveries: each destination has a lane of its own in each process, and a delivery that
 * is to be tried again stands in none until it is due.
 */
@Injectable()
export class DeliveryService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryService.name);
  private readonly lanes = new Map<string, DestinationLane>();
  private readonly runs = new Set<Promise<void>>();
  /** Lanes that could go on but for the limit of the process, in the order in which they came. */
  private readonly crowdedOut = new Set<DestinationLane>();
  private sweeper: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly queue: WorkQueue,
    private readonly client: OutboundClient,
    private readonly headers: HeaderBox,
    private readonly batches: RenderedBatches,
    private readonly metrics: BroadcastMetrics,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.queue.consume('broadcast', (id) => this.consume(id), { concurrency: CONSUMERS });
    this.sweeper = setInterval(() => void this.sweepNow(), SWEEP_INTERVAL_MS);
    this.sweeper.unref();
    // What a process before this one left behind.
    void this.sweepNow(0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.sweeper);
    await Promise.race([
      Promise.allSettled(this.runs),
      wait(STOP_LIMIT_MS, undefined, { ref: false }),
    ]);
    const left = [...this.lanes.values()].flatMap(({ claimedIds }) => claimedIds);
    if (left.length === 0) return;
    // Whoever is next sends them again under the same idempotency key.
    try {
      await this.deliveries.giveBack(left);
      await Promise.all(left.map((id) => this.queue.wake('broadcast', id)));
    } catch (error) {
      this.logger.warn(`Deliveries were not given back: ${(error as Error).message}`);
    }
  }

  /** Wakes workers for deliveries whose own wake-up was lost; a lane goes on by itself from there. */
  async sweepNow(overdueMs = OVERDUE_MS): Promise<void> {
    try {
      const ids = await this.deliveries.findOverdue(overdueMs);
      for (const id of ids) await this.queue.wake('broadcast', id);
      await this.deliveries.removeSpentBatches();
    } catch (error) {
      this.logger.warn(`The sweep of trace deliveries failed: ${(error as Error).message}`);
    }
  }

  private async consume(id: string): Promise<void> {
    if (this.isStopped) return;
    const found = await this.deliveries.find(id);
    if (!found) return;
    if (found.dueInMs > 0) {
      // Too early, or in the hands of somebody who may not come to its end.
      const delayMs = Math.ceil(found.dueInMs) + CLOCK_MARGIN_MS;
      await this.queue.wake('broadcast', id, { delayMs });
      return;
    }
    const lane = this.lanes.get(found.destinationId) ?? new DestinationLane(found.destinationId);
    this.lanes.set(found.destinationId, lane);
    lane.add(id);
    this.pump(lane);
  }

  private pump(lane: DestinationLane): void {
    while (!this.isStopped) {
      if (this.runs.size >= MAX_POSTS) {
        this.crowdedOut.add(lane);
        return;
      }
      const id = lane.take();
      if (id === undefined) break;
      const run: Promise<void> = this.run(lane, id).finally(() => {
        this.runs.delete(run);
        this.goOn(lane);
      });
      this.runs.add(run);
    }
    if (lane.isIdle) this.lanes.delete(lane.destinationId);
  }

  private goOn(lane: DestinationLane): void {
    this.pump(lane);
    const [next] = this.crowdedOut;
    if (!next) return;
    this.crowdedOut.delete(next);
    this.pump(next);
  }

  private async run(lane: DestinationLane, id: string): Promise<void> {
    let isGood: boolean | undefined;
    try {
      const delivery = await this.deliveries.claim(id);
      if (delivery) isGood = await this.attempt(delivery);
      if (lane.isHungry && !this.isStopped) {
        const due = await this.deliveries.findDue(lane.destinationId, MAX_DUE);
        for (const each of due) lane.add(each);
      }
    } catch (error) {
      // The lease ends by itself, and the sweep finds what is due then.
      if (!this.isStopped) {
        this.logger.warn(`A delivery of traces failed here: ${(error as Error).message}`);
      }
    } finally {
      lane.finish(id, isGood);
    }
  }

  /** @returns whether the receiver took it; undefined when it was not asked */
  private async attempt(delivery: ClaimedDelivery): Promise<boolean | undefined> {
    if (!delivery.isEnabled) {
      await this.drop(delivery, 'disabled', 'the destination is disabled');
      return undefined;
    }
    if (delivery.ageMs > MAX_DELIVERY_AGE_MS) {
      await this.drop(delivery, 'expired', 'the traces waited for too long');
      return undefined;
    }
    // Each attempt before this one ended with the process that made it.
    if (delivery.attempts > MAX_ATTEMPTS) {
      await this.drop(delivery, 'exhausted', 'no attempt came to its end');
      return undefined;
    }
    const outcome = await this.post(delivery);
    this.metrics.countAttempt(outcome.ok ? 'delivered' : 'failed');
    if (outcome.ok) {
      const isFirst = await this.deliveries.complete(delivery.id);
      if (isFirst) this.metrics.countDelivered(delivery.traceCount);
      return true;
    }
    // Whoever stops the process closes connections too: that says nothing about the receiver.
    if (this.isStopped) return undefined;
    if (!outcome.retryable) await this.drop(delivery, 'refused', outcome.reason);
    else if (delivery.attempts >= MAX_ATTEMPTS) {
      await this.drop(delivery, 'exhausted', outcome.reason);
    } else {
      const delayMs = FIRST_RETRY_MS * 2 ** (delivery.attempts - 1);
      await this.deliveries.retryLater(delivery.id, delayMs, outcome.reason);
      await this.queue.wake('broadcast', delivery.id, { delayMs: delayMs + CLOCK_MARGIN_MS });
    }
    return false;
  }

  private async post(delivery: ClaimedDelivery): Promise<OutboundOutcome> {
    const { id, destinationId, url, sealedHeaders } = delivery;
    const own = this.headers.unseal(sealedHeaders, destinationId);
    if (!own) return UNREADABLE_HEADERS;
    const body = await this.batches.of(delivery.batchId);
    const headers = deliveryHeaders(own, id);
    return this.client.post({ url, headers, body, timeoutMs: DELIVERY_TIMEOUT_MS });
  }

  private async drop(
    { id, traceCount }: ClaimedDelivery,
    reason: DropReason,
    words: string,
  ): Promise<void> {
    if (await this.deliveries.drop(id, words)) this.metrics.countDropped(reason, traceCount);
  }
}
