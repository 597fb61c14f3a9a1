import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { scopeHolds } from '../../core/access/key-rights.js';
import { scopeIsLive } from '../../core/access/scope.js';
import type { WorkDepth } from '../../platform/durable-work/work-handler.js';
import { LEASE_MS, MAX_PENDING_BYTES, MAX_PENDING_DELIVERIES } from './broadcast-limits.js';

/** Traces for one or more destinations. */
export interface BatchDraft {
  id: string;
  /** A `TraceBatch` encoded by `toStored`. */
  body: Buffer;
  traceCount: number;
  /** Delivery ids and their destinations. */
  recipients: readonly { id: string; destinationId: string }[];
}

/** Result for one recipient. Deleted destinations have none. */
export interface WrittenDelivery extends NamedDelivery {
  /** False when the destination had too many deliveries. */
  isWritten: boolean;
  /** Deliveries of the destination due before this one. */
  dueBefore: number;
}

/** A claimed delivery with everything needed to send it. */
export interface ClaimedDelivery {
  id: string;
  destinationId: string;
  batchId: string;
  traceCount: number;
  /** Includes this attempt. */
  attempts: number;
  ageMs: number;
  isEnabled: boolean;
  /** False when the key in its scope is revoked or expired. */
  isLive: boolean;
  includesContent: boolean;
  url: string;
  encryptedHeaders: Buffer;
}

/** A newer claim has more attempts. */
type DeliveryClaim = Pick<ClaimedDelivery, 'id' | 'attempts'>;

/** A delivery and its destination. */
export interface NamedDelivery {
  id: string;
  destinationId: string;
}

/**
 * Commits asynchronously, so that ledger commits don't wait. After a database crash lost updates
 * are repeated under the same idempotency key.
 */
const SOON = `(SELECT set_config('synchronous_commit', 'off', true)) AS durability`;

const INSERT = `
  WITH batches AS (
    SELECT id, traces,
           substring($2::bytea FROM (sum(size) OVER (ORDER BY place) - size + 1)::int FOR size) AS body,
           EXISTS (SELECT FROM broadcast_batches written WHERE written.id = batch.id) AS is_old
      FROM unnest($1::uuid[], $3::int[], $4::int[]) WITH ORDINALITY AS batch (id, size, traces, place)
  ), waiting AS (
    SELECT destination.id,
           count(delivery.destination_id) < $8 AND coalesce(sum(delivery.size), 0) < $9 AS has_room,
           count(*) FILTER (WHERE next_attempt_at <= now()) AS due
      FROM broadcast_destinations destination
      LEFT JOIN broadcast_deliveries delivery ON delivery.destination_id = destination.id
     WHERE destination.id = ANY($6::uuid[])
     GROUP BY destination.id
  ), recipients AS (
    SELECT recipient.id, waiting.id AS destination_id, batch_id, traces, octet_length(body) AS size,
           due, is_old, has_room OR EXISTS (
             SELECT FROM broadcast_deliveries written WHERE written.id = recipient.id
           ) AS is_written
      FROM unnest($5::uuid[], $6::uuid[], $7::uuid[]) AS recipient (id, destination_id, batch_id)
      JOIN waiting ON waiting.id = recipient.destination_id
      JOIN batches ON batches.id = batch_id
  ), batch AS (
    INSERT INTO broadcast_batches (id, body)
    SELECT id, body FROM batches
     WHERE NOT is_old AND id IN (SELECT batch_id FROM recipients WHERE is_written)
  ), written AS (
    INSERT INTO broadcast_deliveries (id, destination_id, batch_id, size, trace_count)
    SELECT id, destination_id, batch_id, size, traces FROM recipients
     WHERE is_written AND NOT is_old
  )
  SELECT id, destination_id AS "destinationId", is_written AS "isWritten", due AS "dueBefore"
    FROM recipients`;

/** Stores pending deliveries. Every statement keeps the destination's counters consistent. */
@Injectable()
export class DeliveryRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores batches and their deliveries. Full destinations get none; the caller counts those. Safe
   * to repeat with the same ids when the outcome is unknown.
   */
  async insert(batches: readonly BatchDraft[]): Promise<WrittenDelivery[]> {
    const recipients = batches.flatMap((batch) =>
      batch.recipients.map((recipient) => ({ ...recipient, batchId: batch.id })),
    );
    const bodies = batches.map(({ body }) => body);
    const { rows } = await this.database.query<WrittenDelivery>(INSERT, [
      batches.map(({ id }) => id),
      // Sent as one value: an array of bytes would be sent as text, twice as long.
      Buffer.concat(bodies),
      bodies.map((body) => body.length),
      batches.map(({ traceCount }) => traceCount),
      recipients.map(({ id }) => id),
      recipients.map(({ destinationId }) => destinationId),
      recipients.map(({ batchId }) => batchId),
      MAX_PENDING_DELIVERIES,
      MAX_PENDING_BYTES,
    ]);
    return rows;
  }

  /** Returns the output of `toStored`. @throws Error when no delivery needs the batch */
  async readBody(batchId: string): Promise<Buffer> {
    const { rows } = await this.database.query<{ body: Buffer }>(
      'SELECT body FROM broadcast_batches WHERE id = $1',
      [batchId],
    );
    if (!rows[0]) throw new Error('the traces of a delivery are gone');
    return rows[0].body;
  }

  /** Removes batches without deliveries. Keeps recent ones, which make repeated inserts safe. */
  async removeSpentBatches(): Promise<void> {
    await this.database.query(
      `DELETE FROM broadcast_batches batch
        WHERE created_at < now() - interval '1 minute'
          AND NOT EXISTS (SELECT 1 FROM broadcast_deliveries WHERE batch_id = batch.id)`,
    );
  }

  /**
   * Drops the oldest deliveries until the pending bodies fit the limit. Skips measuring while the
   * table is small.
   * @returns the number of dropped traces and their destinations
   */
  async dropOldest(
    maxBytes: number,
    reason: string,
  ): Promise<{ traces: number; destinations: number }> {
    const { rows } = await this.database.query<{ traces: number; destinations: number }>(
      `WITH waiting AS (
         SELECT id, sum(octet_length(body)) OVER (ORDER BY created_at DESC, id) AS bytes
           FROM broadcast_batches batch
          WHERE (SELECT pg_total_relation_size('broadcast_batches')) > $1
            AND EXISTS (SELECT FROM broadcast_deliveries WHERE batch_id = batch.id)
       ), dropped AS (
         DELETE FROM broadcast_deliveries
          WHERE batch_id IN (SELECT id FROM waiting WHERE bytes > $1)
         RETURNING destination_id, trace_count
       ), losses AS (
         SELECT destination_id, sum(trace_count)::bigint AS traces FROM dropped GROUP BY 1
       ), told AS (
         UPDATE broadcast_destinations
            SET dropped_count = dropped_count + traces,
                last_error = coalesce(last_error, $2), last_error_at = coalesce(last_error_at, now())
           FROM losses WHERE id = destination_id
       )
       SELECT coalesce(sum(traces), 0)::bigint AS traces, count(*) AS destinations FROM losses`,
      [maxBytes, reason],
    );
    return rows[0]!;
  }

  /** Counts traces that were lost before they became a delivery. */
  async countDropped(
    destinationId: string,
    traces: number,
    reason: string,
    { keepsLastError }: { keepsLastError: boolean },
  ): Promise<void> {
    await this.database.query(
      `UPDATE broadcast_destinations
          SET dropped_count = dropped_count + $2,
              last_error = CASE WHEN $4 THEN coalesce(last_error, $3) ELSE $3 END,
              last_error_at = CASE WHEN $4 THEN coalesce(last_error_at, now()) ELSE now() END
        WHERE id = $1`,
      [destinationId, traces, reason, keepsLastError],
    );
  }

  /** Returns the destination of a due delivery; undefined when it is not due. */
  async findDestinationOfDue(id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ destinationId: string }>(
      `SELECT destination_id AS "destinationId" FROM broadcast_deliveries
        WHERE id = $1 AND next_attempt_at <= now()`,
      [id],
    );
    return rows[0]?.destinationId;
  }

  /** Claims a due delivery. It is due again when the lease ends. */
  async claim(id: string): Promise<ClaimedDelivery | undefined> {
    const { rows } = await this.database.query<ClaimedDelivery>(
      `UPDATE broadcast_deliveries delivery
          SET attempts = attempts + 1, next_attempt_at = now() + $2 * interval '1 millisecond'
         FROM broadcast_destinations destination
        WHERE delivery.id = $1 AND next_attempt_at <= now()
          AND destination.id = destination_id
        RETURNING delivery.id, destination_id AS "destinationId", batch_id AS "batchId",
                  trace_count AS "traceCount", attempts,
                  (extract(epoch FROM now() - delivery.created_at) * 1000)::float8 AS "ageMs",
                  is_enabled AS "isEnabled", ${scopeIsLive()} AS "isLive", includes_content AND ${scopeHolds('content')} AS "includesContent", url,
                  sealed_headers AS "encryptedHeaders", ${SOON}`,
      [id, LEASE_MS],
    );
    const [row] = rows;
    return row && { ...row, url: fromStoredText(row.url) };
  }

  /**
   * @param rejected traces that the receiver rejected, for `reason`
   * @returns false when another process completed it first
   */
  async complete(id: string, rejected = 0, reason?: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `WITH done AS (
         DELETE FROM broadcast_deliveries WHERE id = $1 RETURNING destination_id, trace_count
       )
       UPDATE broadcast_destinations
          SET delivered_count = delivered_count + trace_count - $2, last_success_at = now(),
              dropped_count = dropped_count + $2,
              last_error = coalesce($3, last_error),
              last_error_at = CASE WHEN $3 IS NULL THEN last_error_at ELSE now() END
         FROM done WHERE broadcast_destinations.id = destination_id
       RETURNING ${SOON}`,
      [id, rejected, reason === undefined ? null : toStoredText(reason)],
    );
    return rowCount === 1;
  }

  /** @returns false when another process completed it first */
  async drop({ id, attempts }: DeliveryClaim, reason: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `WITH done AS (
         DELETE FROM broadcast_deliveries WHERE id = $1 AND attempts = $3 RETURNING destination_id, trace_count
       )
       UPDATE broadcast_destinations
          SET dropped_count = dropped_count + trace_count,
              last_error = $2, last_error_at = now()
         FROM done WHERE broadcast_destinations.id = destination_id
       RETURNING ${SOON}`,
      [id, toStoredText(reason), attempts],
    );
    return rowCount === 1;
  }

  /** Ends the lease and schedules a retry, unless a newer claim exists. */
  async retryLater(
    { id, attempts }: DeliveryClaim,
    delayMs: number,
    reason: string,
  ): Promise<void> {
    await this.database.query(
      `WITH delayed AS (
         UPDATE broadcast_deliveries SET next_attempt_at = now() + $2 * interval '1 millisecond'
          WHERE id = $1 AND attempts = $4 RETURNING destination_id
       )
       UPDATE broadcast_destinations SET last_error = $3, last_error_at = now()
         FROM delayed WHERE broadcast_destinations.id = destination_id
       RETURNING ${SOON}`,
      [id, delayMs, toStoredText(reason), attempts],
    );
  }

  /** Releases deliveries of a stopping process without counting the attempts. */
  async release(taken: readonly DeliveryClaim[]): Promise<void> {
    await this.database.query(
      `UPDATE broadcast_deliveries delivery
          SET next_attempt_at = now(), attempts = delivery.attempts - 1
         FROM unnest($1::uuid[], $2::int[]) AS taken (id, attempts)
        WHERE delivery.id = taken.id AND delivery.attempts = taken.attempts`,
      [taken.map(({ id }) => id), taken.map(({ attempts }) => attempts)],
    );
  }

  async depth(): Promise<WorkDepth> {
    const { rows } = await this.database.lookUps.query<{ waiting: number; delayed: number }>(
      `SELECT count(*) FILTER (WHERE next_attempt_at <= now()) AS waiting,
         count(*) FILTER (WHERE next_attempt_at > now()) AS delayed
       FROM broadcast_deliveries`,
    );
    return rows[0]!;
  }

  /** Returns due deliveries of a destination, oldest first. */
  async findDue(destinationId: string, limit: number): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT id FROM broadcast_deliveries
        WHERE destination_id = $1 AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT $2`,
      [destinationId, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns one overdue delivery per destination. */
  async findOverdue(overdueMs: number): Promise<NamedDelivery[]> {
    const { rows } = await this.database.query<NamedDelivery>(
      `SELECT DISTINCT ON (destination_id) id, destination_id AS "destinationId"
         FROM broadcast_deliveries
        WHERE next_attempt_at < now() - $1 * interval '1 millisecond'
        ORDER BY destination_id, next_attempt_at`,
      [overdueMs],
    );
    return rows;
  }
}
