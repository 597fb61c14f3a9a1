import { Injectable } from '@nestjs/common';
import { Database } from '../common/database/database.js';
import { fromStoredText, toStoredText } from '../common/database/stored-text.js';
import { LEASE_MS, MAX_PENDING_BYTES, MAX_PENDING_DELIVERIES } from './broadcast-limits.js';

export interface DeliveryDraft {
  id: string;
  destinationId: string;
  /** OTLP in JSON, gzipped. */
  body: Buffer;
  traceCount: number;
}

/** A delivery that this process has taken, with all that is needed to make it. */
export interface ClaimedDelivery {
  id: string;
  destinationId: string;
  body: Buffer;
  traceCount: number;
  /** This one included. */
  attempts: number;
  ageMs: number;
  isEnabled: boolean;
  url: string;
  sealedHeaders: Buffer;
}

/** A delivery that waits. */
export interface DueDelivery {
  destinationId: string;
  /** Below 0 when it is overdue. */
  dueInMs: number;
}

/** The deliveries under way. Each statement leaves the counters of the destination in step. */
@Injectable()
export class DeliveryRepository {
  constructor(private readonly database: Database) {}

  /**
   * Writes a delivery down, unless its destination has too many already: then it counts as dropped
   * there. @returns whether it was written
   */
  async insert({ id, destinationId, body, traceCount }: DeliveryDraft): Promise<boolean> {
    const { rows } = await this.database.query<{ isWritten: boolean }>(
      `WITH pending AS (
         SELECT count(*) AS deliveries, coalesce(sum(size), 0) AS bytes
           FROM broadcast_deliveries WHERE destination_id = $2
       ), written AS (
         INSERT INTO broadcast_deliveries (id, destination_id, body, size, trace_count)
         SELECT $1, destination.id, $3, $4, $5
           FROM broadcast_destinations destination, pending
          WHERE destination.id = $2 AND deliveries < $6 AND bytes < $7
         RETURNING id
       ), dropped AS (
         UPDATE broadcast_destinations
            SET dropped_count = dropped_count + $5,
                last_error = 'too many deliveries wait already', last_error_at = now()
          WHERE id = $2 AND NOT EXISTS (SELECT 1 FROM written)
       )
       SELECT EXISTS (SELECT 1 FROM written) AS "isWritten"`,
      [id, destinationId, body, body.length, traceCount, MAX_PENDING_DELIVERIES, MAX_PENDING_BYTES],
    );
    return rows[0]?.isWritten ?? false;
  }

  /** Notes traces that were lost before there was a delivery of them. */
  async countDropped(destinationId: string, traces: number, reason: string): Promise<void> {
    await this.database.query(
      `UPDATE broadcast_destinations
          SET dropped_count = dropped_count + $2, last_error = $3, last_error_at = now()
        WHERE id = $1`,
      [destinationId, traces, reason],
    );
  }

  async find(id: string): Promise<DueDelivery | undefined> {
    const { rows } = await this.database.query<DueDelivery>(
      `SELECT destination_id AS "destinationId",
              (extract(epoch FROM next_attempt_at - now()) * 1000)::float8 AS "dueInMs"
         FROM broadcast_deliveries WHERE id = $1`,
      [id],
    );
    return rows[0];
  }

  /** Takes a delivery that is due for the time of a lease, by the end of which it is due again. */
  async claim(id: string): Promise<ClaimedDelivery | undefined> {
    const { rows } = await this.database.query<ClaimedDelivery>(
      `UPDATE broadcast_deliveries delivery
          SET attempts = attempts + 1, next_attempt_at = now() + $2 * interval '1 millisecond'
         FROM broadcast_destinations destination
        WHERE delivery.id = $1 AND next_attempt_at <= now()
          AND destination.id = destination_id
        RETURNING delivery.id, destination_id AS "destinationId", body,
                  trace_count AS "traceCount", attempts,
                  (extract(epoch FROM now() - delivery.created_at) * 1000)::float8 AS "ageMs",
                  is_enabled AS "isEnabled", url, sealed_headers AS "sealedHeaders"`,
      [id, LEASE_MS],
    );
    const [row] = rows;
    return row && { ...row, url: fromStoredText(row.url) };
  }

  /** @returns false when another process was first */
  async complete(id: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `WITH done AS (
         DELETE FROM broadcast_deliveries WHERE id = $1 RETURNING destination_id, trace_count
       )
       UPDATE broadcast_destinations
          SET delivered_count = delivered_count + trace_count, last_success_at = now()
         FROM done WHERE broadcast_destinations.id = destination_id`,
      [id],
    );
    return rowCount === 1;
  }

  /** @returns false when another process was first */
  async drop(id: string, reason: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `WITH done AS (
         DELETE FROM broadcast_deliveries WHERE id = $1 RETURNING destination_id, trace_count
       )
       UPDATE broadcast_destinations
          SET dropped_count = dropped_count + trace_count,
              last_error = $2, last_error_at = now()
         FROM done WHERE broadcast_destinations.id = destination_id`,
      [id, toStoredText(reason)],
    );
    return rowCount === 1;
  }

  /** Ends the lease: the delivery is due again after a while. */
  async retryLater(id: string, delayMs: number, reason: string): Promise<void> {
    await this.database.query(
      `WITH delayed AS (
         UPDATE broadcast_deliveries SET next_attempt_at = now() + $2 * interval '1 millisecond'
          WHERE id = $1 RETURNING destination_id
       )
       UPDATE broadcast_destinations SET last_error = $3, last_error_at = now()
         FROM delayed WHERE broadcast_destinations.id = destination_id`,
      [id, delayMs, toStoredText(reason)],
    );
  }

  /** Ends the leases of deliveries that a stopping process gives back; the attempts did not count. */
  async giveBack(ids: readonly string[]): Promise<void> {
    await this.database.query(
      `UPDATE broadcast_deliveries
          SET next_attempt_at = now(), attempts = greatest(attempts - 1, 0) WHERE id = ANY($1)`,
      [ids],
    );
  }

  /** Deliveries of one destination that are due, the longest due first. */
  async findDue(destinationId: string, limit: number): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT id FROM broadcast_deliveries
        WHERE destination_id = $1 AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT $2`,
      [destinationId, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** For each destination with deliveries that nobody came for, one of them. */
  async findOverdue(overdueMs: number): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT DISTINCT ON (destination_id) id FROM broadcast_deliveries
        WHERE next_attempt_at < now() - $1 * interval '1 millisecond'
        ORDER BY destination_id, next_attempt_at`,
      [overdueMs],
    );
    return rows.map(({ id }) => id);
  }
}
