import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

/** A delivery that the caller has taken, for one attempt. */
export interface TakenDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
  /** This one included. */
  readonly attempts: number;
}

/** The rows of webhooks. Each move is a compare-and-set, so that any number of workers may try. */
@Injectable()
export class WebhookDeliveryRepository {
  constructor(private readonly database: Database) {}

  /** Where it is to go; undefined when there is nothing to do now. */
  async urlOfDue(id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ url: string }>(
      `SELECT url FROM webhook_deliveries
        WHERE id = $1 AND state = 'pending' AND next_attempt_at <= now()`,
      [id],
    );
    return rows[0]?.url;
  }

  /** Takes it for so long; undefined when somebody else has it, or it is not due or done. */
  async take(id: string, leaseMs: number): Promise<TakenDelivery | undefined> {
    const { rows } = await this.database.query<TakenRow>(
      `UPDATE webhook_deliveries
          SET attempts = attempts + 1, next_attempt_at = ${later('$2')}, woken_at = ${later('$2')}
        WHERE id = $1 AND state = 'pending' AND next_attempt_at <= now()
        RETURNING id, tenant_id, url, event_id, body, attempts`,
      [id, leaseMs],
    );
    const [row] = rows;
    return row && { ...row, tenantId: row.tenant_id, eventId: row.event_id };
  }

  /** Whether the attempt was still the newest one. */
  async finish(
    { id, attempts }: TakenDelivery,
    state: 'delivered' | 'dropped',
    lastError: string | null,
  ): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `UPDATE webhook_deliveries SET state = $3, last_error = $4, finished_at = now()
        WHERE id = $1 AND attempts = $2 AND state = 'pending'`,
      [id, attempts, state, lastError],
    );
    return rowCount === 1;
  }

  /** Whether the attempt was still the newest one. */
  async retryLater(
    { id, attempts }: TakenDelivery,
    delayMs: number,
    lastError: string,
  ): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `UPDATE webhook_deliveries
          SET next_attempt_at = ${later('$3')}, woken_at = ${later('$3')}, last_error = $4
        WHERE id = $1 AND attempts = $2 AND state = 'pending'`,
      [id, attempts, delayMs, lastError],
    );
    return rowCount === 1;
  }

  /** Due ones that no worker was called for lately, those that waited longest first. */
  async wakeForgotten(forgottenAfterMs: number, limit: number): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `UPDATE webhook_deliveries SET woken_at = now()
        WHERE id IN (
          SELECT id FROM webhook_deliveries
           WHERE state = 'pending' AND woken_at <= now() - $1 * interval '1 millisecond'
             AND next_attempt_at <= now()
           ORDER BY woken_at LIMIT $2 FOR UPDATE SKIP LOCKED
        )
        RETURNING id`,
      [forgottenAfterMs, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** How many were deleted, at most the limit. */
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

interface TakenRow {
  id: string;
  tenant_id: string;
  url: string;
  event_id: string;
  body: string;
  attempts: number;
}

/** The database's clock counts: those of instances may differ. */
function later(parameter: string): string {
  return `now() + ${parameter} * interval '1 millisecond'`;
}
