import { Injectable, Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { WorkQueue } from '../queue/work-queue.js';
import { messageOf } from '../errors/thrown.js';

/** Something that a tenant is told at an address of its own. */
export interface WebhookEvent {
  readonly tenantId: string;
  readonly url: string;
  /** Enqueued once, however often it is asked for; unique over all tenants. */
  readonly eventId: string;
  /** JSON, sent as it is. */
  readonly body: string;
  /** The key whose request asked for it. */
  readonly scopeKeyId: string;
}

/** Webhooks that are to be delivered, each signed with its tenant's secret. */
@Injectable()
export class WebhookDeliveries {
  private readonly logger = new Logger(WebhookDeliveries.name);

  constructor(private readonly queue: WorkQueue) {}

  /**
   * Writes the delivery down in the caller's transaction, so that it is made exactly if that
   * commits. Answers the delivery's id, for `announce`; undefined when the event was there already.
   */
  async enqueue(client: PoolClient, event: WebhookEvent): Promise<string | undefined> {
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO webhook_deliveries (tenant_id, url, event_id, body, scope_key_id)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (event_id) DO NOTHING
       RETURNING id`,
      [event.tenantId, event.url, event.eventId, event.body, event.scopeKeyId],
    );
    return rows[0]?.id;
  }

  /**
   * Wakes a worker for the delivery; to be called after the commit. It never throws: what it does
   * not reach is found by the sweep, a few seconds later.
   */
  async announce(deliveryId: string): Promise<void> {
    try {
      await this.queue.wake('webhooks', deliveryId);
    } catch (error) {
      this.logger.warn(`A webhook waits for the sweep: ${messageOf(error)}`);
    }
  }
}
