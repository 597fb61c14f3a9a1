import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { scopeHolds } from '../../core/access/key-rights.js';
import { scopeIsLive } from '../../core/access/scope.js';
import { LEASE_MS, MAX_PENDING_BYTES, MAX_PENDING_DELIVERIES } from './broadcast-limits.js';

/** Traces for one or several destinations. */
export interface BatchDraft {
  id: string;
  /** What a `TraceBatch` wrote, by `toStored`. */
  body: Buffer;
  traceCount: number;
  /** Ids of the deliveries that it becomes, and whose they are. */
  recipients: readonly { id: string; destinationId: string }[];
}

/** What became of one recipient of a batch; of a destination that is gone nothing is told. */
export interface WrittenDelivery extends NamedDelivery {
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
  /** Whether the key of its scope, if it has one, is neither revoked nor expired. */
  isLive: boolean;
  includesContent: boolean;
  url: string;
  encryptedHeaders: Buffer;
}

/** One of the deliveries of a destination. */
export interface NamedDelivery {
  id: string;
  destinationId: string;
}

/**
 * The statement's commit does not wait for the disk, so that it does not keep those of the ledger
 * waiting. What is lost when the database itself dies is done again, under the same idempotency key.
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

/** The deliveries under way. Each statement leaves the counters of the destination in step. */
@Injectable()
export class DeliveryRepository {
  constructor(private readonly database: Database) {}

  /**
   * Writes batches down with their deliveries. A destination that has too many already gets none,
   * which is for the caller to count. To be called again with the same ids when it is not known
   * whether it went well: what has been written then stays as it is, whatever became of it since.
   */
  async insert(batches: readonly BatchDraft[]): Promise<WrittenDelivery[]> {
    const recipients = batches.flatMap((batch) =>
      batch.recipients.map((recipient) => ({ ...recipient, batchId: batch.id })),
    );
    const bodies = batches.map(({ body }) => body);
    const { rows } = await this.database.query<WrittenDelivery>(INSERT, [
      batches.map(({ id }) => id),
      // As one value: a list of bytes would be sent as text, twice as long.
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

  /** As `toStored` made it. @throws Error when nothing is left to deliver of it */
  async readBody(batchId: string): Promise<Buffer> {
    const { rows } = await this.database.query<{ body: Buffer }>(
      'SELECT body FROM broadcast_batches WHERE id = $1',
      [batchId],
    );
    if (!rows[0]) throw new Error('the traces of a delivery are gone');
    return rows[0].body;
  }

  /** Removes batches that have no deliveries any more; young ones tell a repeated insert of the first. */
  async removeSpentBatches(): Promise<void> {
    await this.database.query(
      `DELETE FROM broadcast_batches batch
        WHERE created_at < now() - interval '1 minute'
          AND NOT EXISTS (SELECT 1 FROM broadcast_deliveries WHERE batch_id = batch.id)`,
    );
  }

  /**
   * Gives up deliveries, those first that have waited longest, until the bodies of what waits are no
   * longer than so many bytes. Reads them only when the table is larger than that.
   *
   * @returns how many traces were given up, of how many destinations
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

  /** Notes traces that were lost before there was a delivery of them. */
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

  /** Whose a delivery is that is due; undefined when it is not, or when there is none. */
  async findDestinationOfDue(id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ destinationId: string }>(
      `SELECT destination_id AS "destinationId" FROM broadcast_deliveries
        WHERE id = $1 AND next_attempt_at <= now()`,
      [id],
    );
    return rows[0]?.destinationId;
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
                  is_enabled AS "isEnabled", ${scopeIsLive()} AS "isLive", includes_content AND ${scopeHolds('content')} AS "includesContent", url,
                  sealed_headers AS "encryptedHeaders", ${SOON}`,
      [id, LEASE_MS],
    );
    const [row] = rows;
    return row && { ...row, url: fromStoredText(row.url) };
  }

  /**
   * @param rejected of its traces, that the receiver did not take; `reason` is why
   * @returns false when another process was first
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

  /** @returns false when another process was first */
  async drop(id: string, reason: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `WITH done AS (
         DELETE FROM broadcast_deliveries WHERE id = $1 RETURNING destination_id, trace_count
       )
       UPDATE broadcast_destinations
          SET dropped_count = dropped_count + trace_count,
              last_error = $2, last_error_at = now()
         FROM done WHERE broadcast_destinations.id = destination_id
       RETURNING ${SOON}`,
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
         FROM delayed WHERE broadcast_destinations.id = destination_id
       RETURNING ${SOON}`,
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
