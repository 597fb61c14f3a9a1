import { Injectable, Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { WorkQueue } from '../queue/work-queue.js';
import { messageOf } from '../errors/thrown.js';

/** An event to be sent to a tenant's address. */
export interface WebhookEvent {
  readonly tenantId: string;
  readonly url: string;
  /** Enqueued once, however often it is requested; unique over all tenants. */
  readonly eventId: string;
  /** JSON, sent unchanged. */
  readonly body: string;
  /** The key whose request asked for it. */
  readonly scopeKeyId: string;
}

/** Enqueues webhooks, each signed with its tenant's secret. */
@Injectable()
export class WebhookDeliveries {
  private readonly logger = new Logger(WebhookDeliveries.name);

  constructor(private readonly queue: WorkQueue) {}

  /**
   * Stores the delivery in the caller's transaction. Returns its id for `announce`; undefined when the event was
   * already enqueued.
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

  /** Wakes a worker for the delivery after the commit. Never throws: the sweep finds it a few seconds later. */
  async announce(deliveryId: string): Promise<void> {
    try {
      await this.queue.wake('webhooks', deliveryId);
    } catch (error) {
      this.logger.warn(`webhook left to the sweep: ${messageOf(error)}`);
    }
  }
}
