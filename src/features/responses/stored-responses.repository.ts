import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';

/** One turn of a conversation, as far as going on from it needs. */
export interface TurnRow {
  id: string;
  conversation_id: string;
  previous_response_id: string | null;
  status: string;
  context_bytes: number;
  /** JSON text; null when the conversation is larger than asked for. */
  input_items: string | null;
  output_items: string | null;
}

/** A response that a request refers to, as far as resolving needs. */
export interface ReferredRow {
  id: string;
  /** What all rows together hold; beyond what was asked for their items are null. */
  bytes: number;
  output_items: string | null;
  /** Null also where only the output is wanted. */
  input_items: string | null;
}

/** Which responses are referred to. */
interface References {
  responseIds: readonly string[];
  /** Of which of them the input is wanted as well. */
  inputsOf: readonly string[];
  vendorItemIds: readonly string[];
  maxBytes: number;
}

interface StoredResponseRow {
  bytes: number;
  /** JSON texts; null when they are larger than asked for. */
  response: string | null;
  output_items: string | null;
}

interface StoredInputRow {
  bytes: number;
  /** JSON text; null when it is larger than asked for. */
  input_items: string | null;
}

/** Where a sweep goes on. */
export interface SweepPosition {
  /** As PostgreSQL spells it, to the microsecond. */
  createdAt: string;
  id: string;
}

/** The turns of conversations, each tenant's apart from the others'. */
@Injectable()
export class StoredResponsesRepository {
  constructor(private readonly database: Database) {}

  /**
   * A turn and all that it follows, newest first, in one query, however many there are. Ends at a
   * turn whose predecessor is gone.
   *
   * @param maxBytes of a conversation with more items than that only the rows come, without items
   */
  async findConversation(tenantId: string, id: string, maxBytes: number): Promise<TurnRow[]> {
    const { rows } = await this.database.query<TurnRow>(
      `WITH RECURSIVE turn AS (
         SELECT id, previous_response_id, 1 AS depth, context_bytes <= $3 AS fits
         FROM stored_responses WHERE id = $1 AND tenant_id = $2
         UNION ALL
         SELECT earlier.id, earlier.previous_response_id, turn.depth + 1, turn.fits
         FROM turn
         JOIN stored_responses AS earlier
           ON earlier.id = turn.previous_response_id AND earlier.tenant_id = $2
         WHERE turn.fits
       )
       SELECT id, conversation_id, stored.previous_response_id, status, context_bytes,
         CASE WHEN fits THEN input_items END AS input_items,
         CASE WHEN fits THEN output_items END AS output_items
       FROM turn JOIN stored_responses AS stored USING (id)
       ORDER BY depth`,
      [id, tenantId, maxBytes],
    );
    return rows;
  }

  /** The responses of all references, in one query, newest first; those that failed are left out. */
  async findReferred(tenantId: string, references: References): Promise<ReferredRow[]> {
    const { responseIds, inputsOf, vendorItemIds, maxBytes } = references;
    const { rows } = await this.database.query<ReferredRow>(
      `WITH referred AS (
         SELECT id FROM stored_responses
         WHERE id = ANY ($2::text[]) AND tenant_id = $1 AND status NOT IN ('failed', 'cancelled')
         UNION
         SELECT id FROM stored_responses
         WHERE vendor_item_ids && $4::text[] AND tenant_id = $1 AND status NOT IN ('failed', 'cancelled')
       ), measured AS (
         SELECT stored.id, created_at, output_items,
           CASE WHEN stored.id = ANY ($3::text[]) THEN input_items END AS input_items,
           (sum(
             octet_length(output_items) +
             CASE WHEN stored.id = ANY ($3::text[]) THEN octet_length(input_items) ELSE 0 END
           ) OVER ())::bigint AS bytes
         FROM referred JOIN stored_responses AS stored USING (id)
       )
       SELECT id, bytes, CASE WHEN bytes <= $5 THEN output_items END AS output_items,
         CASE WHEN bytes <= $5 THEN input_items END AS input_items
       FROM measured ORDER BY created_at DESC, id DESC`,
      [tenantId, responseIds, inputsOf, vendorItemIds, maxBytes],
    );
    return rows;
  }

  /** @param maxBytes of a response that is larger only that is told */
  async findResponse(
    tenantId: string,
    id: string,
    maxBytes: number,
  ): Promise<StoredResponseRow | undefined> {
    const { rows } = await this.database.query<StoredResponseRow>(
      `SELECT bytes, CASE WHEN bytes <= $3 THEN response END AS response,
         CASE WHEN bytes <= $3 THEN output_items END AS output_items
       FROM (SELECT response, output_items, octet_length(response) + octet_length(output_items) AS bytes
             FROM stored_responses WHERE id = $1 AND tenant_id = $2) AS stored`,
      [id, tenantId, maxBytes],
    );
    return rows[0];
  }

  /** A turn's own input. @param maxBytes of one that is larger only that is told */
  async findInput(
    tenantId: string,
    id: string,
    maxBytes: number,
  ): Promise<StoredInputRow | undefined> {
    const { rows } = await this.database.query<StoredInputRow>(
      `SELECT bytes, CASE WHEN bytes <= $3 THEN input_items END AS input_items
       FROM (SELECT input_items, octet_length(input_items) AS bytes
             FROM stored_responses WHERE id = $1 AND tenant_id = $2) AS stored`,
      [id, tenantId, maxBytes],
    );
    return rows[0];
  }

  /** @returns whether there was such a response */
  async delete(tenantId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      'DELETE FROM stored_responses WHERE id = $1 AND tenant_id = $2',
      [id, tenantId],
    );
    return (rowCount ?? 0) > 0;
  }

  /**
   * Deletes turns older than `before`, unless their conversation has a younger turn. Looks at so
   * many of them at most; those that another sweep has in hand are left to it.
   *
   * @returns where to go on, or undefined after the last
   */
  async sweep(
    before: Date,
    after: SweepPosition,
    maxRows: number,
  ): Promise<{ deleted: number; next: SweepPosition | undefined }> {
    const { rows } = await this.database.query<{
      seen: number;
      deleted: number;
      last_created_at: string | null;
      last_id: string | null;
    }>(
      `WITH old AS (
         SELECT id, conversation_id, created_at FROM stored_responses
         WHERE created_at < $1 AND (created_at, id) > ($2::timestamptz, $3)
         ORDER BY created_at, id LIMIT $4
         FOR UPDATE SKIP LOCKED
       ), deleted AS (
         DELETE FROM stored_responses USING old
         WHERE stored_responses.id = old.id AND NOT EXISTS (
           SELECT FROM stored_responses AS younger
           WHERE younger.conversation_id = old.conversation_id AND younger.created_at >= $1
         )
         RETURNING stored_responses.id
       ), last AS (
         SELECT id, created_at FROM old ORDER BY created_at DESC, id DESC LIMIT 1
       )
       SELECT (SELECT count(*) FROM old) AS seen, (SELECT count(*) FROM deleted) AS deleted,
         (SELECT created_at::text FROM last) AS last_created_at, (SELECT id FROM last) AS last_id`,
      [before, after.createdAt, after.id, maxRows],
    );
    const { seen, deleted, last_created_at: createdAt, last_id: id } = rows[0]!;
    const isLast = seen < maxRows || createdAt === null || id === null;
    return { deleted, next: isLast ? undefined : { createdAt, id } };
  }
}

/** What was said before, that a request goes on from. */
export interface Conversation {
  /** The response that the caller named; null where it named a conversation. */
  previousResponseId: string | null;
  /** The id of its first turn, or its own where it has one. */
  conversationId: string;
  /** The conversation of `/v1/conversations` that the turn is to be added to. */
  storedIn?: string;
  /** Input and output items of all turns, oldest first. */
  items: JsonObject[];
  /** What the items measure as JSON text, which bounds a conversation's length. */
  contextBytes: number;
}
