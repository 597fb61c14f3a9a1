import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { WorkDepth } from '../durable-work/work-handler.js';
import type { TakenDelivery } from './delivery-handler.js';
import { DeliveryRows, later } from './delivery-rows.js';

/** A webhook claimed for an attempt. */
export interface TakenWebhook extends TakenDelivery {
  readonly tenantId: string;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
}

type DueWebhook = Pick<TakenWebhook, 'url' | 'tenantId'>;

/** Stores webhook deliveries. */
@Injectable()
export class WebhookDeliveryRepository extends DeliveryRows {
  constructor(database: Database) {
    super(database, 'webhook_deliveries');
  }

  /**
   * Returns a tenant's webhooks, the newest first by `(created_at, id)`.
   *
   * @param behind a time to the microsecond, and an id
   */
  async newestOf(
    tenantId: string,
    limit: number,
    behind: readonly string[] | undefined,
  ): Promise<ListedWebhook[]> {
    const { rows } = await this.database.query<ListedWebhook>(
      `SELECT id, url, event_id AS "eventId", scope_key_id AS "scopeKeyId", attempts, state, last_error AS "lastError",
         created_at AS "createdAt", finished_at AS "finishedAt",
         to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
       FROM webhook_deliveries
       WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
       ORDER BY created_at DESC, id DESC LIMIT $4`,
      [tenantId, behind?.[0] ?? null, behind?.[1] ?? null, limit],
    );
    return rows;
  }

  /** Returns its receiver and tenant; undefined when nothing is due. */
  async receiverOfDue(id: string): Promise<DueWebhook | undefined> {
    const { rows } = await this.database.query<DueWebhook>(
      `SELECT url, tenant_id AS "tenantId" FROM webhook_deliveries
        WHERE id = $1 AND state = 'pending' AND next_attempt_at <= now()`,
      [id],
    );
    return rows[0];
  }

  /** Claims it for the lease; undefined when it is claimed elsewhere, not due, or done. */
  async take(id: string, leaseMs: number): Promise<TakenWebhook | undefined> {
    const { rows } = await this.database.query<TakenRow>(
      `UPDATE webhook_deliveries
          SET attempts = attempts + 1, next_attempt_at = ${later('$2')}, woken_at = now()
        WHERE id = $1 AND state = 'pending' AND next_attempt_at <= now()
        RETURNING id, tenant_id, url, event_id, body, attempts`,
      [id, leaseMs],
    );
    const [row] = rows;
    return row && { ...row, tenantId: row.tenant_id, eventId: row.event_id };
  }

  /** During an attempt only the next one lies in the future; before a retry the wake-up does too. */
  async depth(): Promise<WorkDepth> {
    const { rows } = await this.database.lookUps.query<Required<WorkDepth>>(
      `SELECT count(*) FILTER (WHERE next_attempt_at <= now()) AS waiting,
         count(*) FILTER (WHERE next_attempt_at > now() AND woken_at > now()) AS delayed,
         count(*) FILTER (WHERE next_attempt_at > now() AND woken_at <= now()) AS active
       FROM webhook_deliveries WHERE state = 'pending'`,
    );
    return rows[0]!;
  }

  /** Returns how many were deleted, at most the limit. */
  async deleteFinishedBefore(moment: Date, limit: number): Promise<number> {
    const { rowCount } = await this.database.query(
      `DELETE FROM webhook_deliveries
        WHERE id IN (
          SELECT id FROM webhook_deliveries
           WHERE state <> 'pending' AND finished_at < $1
           LIMIT $2 FOR UPDATE SKIP LOCKED
        )`,
      [moment, limit],
    );
    return rowCount ?? 0;
  }
}

/** A delivery as its tenant sees it. */
export interface ListedWebhook {
  readonly id: string;
  /** Null in rows older than this column. */
  readonly scopeKeyId: string | null;
  readonly url: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly state: 'pending' | 'delivered' | 'dropped';
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** `createdAt` to the microsecond. */
  readonly place: string;
}

interface TakenRow {
  id: string;
  tenant_id: string;
  url: string;
  event_id: string;
  body: string;
  attempts: number;
}
