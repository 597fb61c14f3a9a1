import { Injectable } from '@nestjs/common';
import { Database } from '../common/database/database.js';
import { fromStoredText, toStoredText } from '../common/database/stored-text.js';
import { LEASE_MS, MAX_PENDING_BYTES, MAX_PENDING_DELIVERIES } from './broadcast-limits.js';

/** Traces for one or several destinations. */
export interface BatchDraft {
  id: string;
  /** What a `TraceBatch` wrote, gzipped. */
  body: Buffer;
  traceCount: number;
  /** Ids of the deliveries that it becomes, and whose they are. */
  recipients: readonly { id: string; destinationId: string }[];
}

/** What became of one recipient of a batch; of a destination that is gone nothing is told. */
export interface WrittenDelivery {
  id: string;
  destinationId: string;
  /** False when the destination had too many already. */
  isWritten: boolean;
  /** How many of its deliveries were due before this one. */
  dueBefore: number;
}

/** A delivery that this process has taken, with all that is needed to make it. */
export interface ClaimedDelivery {
  id: string;
  destinationId: string;
  batchId: string;
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
   * Writes a batch down with its deliveries. A destination that has too many already gets none:
   * there the traces count as dropped. To be called again with the same ids when it is not known
   * whether it went well.
   */
  async insert({ id, body, traceCount, recipients }: BatchDraft): Promise<WrittenDelivery[]> {
    const { rows } = await this.database.query<WrittenDelivery>(
      `WITH recipients AS (
         SELECT recipient.id, destination.id AS destination_id, waiting.*
           FROM unnest($4::uuid[], $5::uuid[]) AS recipient (id, destination_id)
           JOIN broadcast_destinations destination ON destination.id = recipient.destination_id,
           LATERAL (
             SELECT count(*) < $6 AND coalesce(sum(size), 0) < $7 AS has_room,
                    count(*) FILTER (WHERE next_attempt_at <= now()) AS due
               FROM broadcast_deliveries WHERE destination_id = destination.id
           ) waiting
       ), batch AS (
         INSERT INTO broadcast_batches (id, body)
         SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM recipients WHERE has_room)
         ON CONFLICT (id) DO NOTHING
       ), written AS (
         INSERT INTO broadcast_deliveries (id, destination_id, batch_id, size, trace_count)
         SELECT id, destination_id, $1, octet_length($2::bytea), $3 FROM recipients WHERE has_room
         ON CONFLICT (id) DO NOTHING
       ), dropped AS (
         UPDATE broadcast_destinations destination
            SET dropped_count = dropped_count + $3,
                last_error = 'too many deliveries wait already', last_error_at = now()
           FROM recipients
          WHERE destination.id = destination_id AND NOT has_room
       )
       SELECT id, destination_id AS "destinationId", has_room AS "isWritten", due AS "dueBefore"
         FROM recipients`,
      [
        id,
        body,
        traceCount,
        recipients.map((recipient) => recipient.id),
        recipients.map(({ destinationId }) => destinationId),
        MAX_PENDING_DELIVERIES,
        MAX_PENDING_BYTES,
      ],
    );
    return rows;
  }

  /** Gzipped. @throws Error when nothing is left to deliver of it */
  async readBody(batchId: string): Promise<Buffer> {
    const { rows } = await this.database.query<{ body: Buffer }>(
      'SELECT body FROM broadcast_batches WHERE id = $1',
      [batchId],
    );
    if (!rows[0]) throw new Error('the traces of a delivery are gone');
    return rows[0].body;
  }

  /** Removes batches that have no deliveries any more. */
  async removeSpentBatches(): Promise<void> {
    await this.database.query(
      `DELETE FROM broadcast_batches batch
        WHERE NOT EXISTS (SELECT 1 FROM broadcast_deliveries WHERE batch_id = batch.id)`,
    );
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
        RETURNING delivery.id, destination_id AS "destinationId", batch_id AS "batchId",
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
