import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';

/** The fields of a turn that continuing it needs. */
export interface TurnRow {
  id: string;
  conversation_id: string;
  previous_response_id: string | null;
  status: string;
  context_bytes: number;
  /** JSON; null when the conversation is larger than requested. */
  input_items: string | null;
  output_items: string | null;
}

/** The fields of a response that resolving references needs. */
export interface ReferredRow {
  id: string;
  /** Total size of all rows. Items beyond the requested size are null. */
  bytes: number;
  output_items: string | null;
  /** Also null when only the output is requested. */
  input_items: string | null;
}

/** Responses referred to by a request. */
interface References {
  responseIds: readonly string[];
  /** Responses whose input is needed too. */
  inputsOf: readonly string[];
  vendorItemIds: readonly string[];
  maxBytes: number;
}

interface StoredResponseRow {
  bytes: number;
  /** JSON; null when larger than requested. */
  response: string | null;
  output_items: string | null;
}

interface StoredInputRow {
  bytes: number;
  /** JSON; null when larger than requested. */
  input_items: string | null;
}

/** Where the next sweep continues. */
export interface SweepPosition {
  /** In PostgreSQL's format, with microseconds. */
  createdAt: string;
  id: string;
}

/** Stores turns by tenant. */
@Injectable()
export class StoredResponsesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns a turn and its predecessors, newest first, in one query. Ends where a predecessor was
   * deleted.
   * @param maxBytes returns the rows of a larger conversation without items
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

  /** Returns all referenced responses in one query, newest first, except failed ones. */
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

  /** @param maxBytes only the size is returned for a larger response */
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

  /** Returns a turn's own input. @param maxBytes only the size is returned for a larger one */
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

  /** @returns whether the response existed */
  async delete(tenantId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      'DELETE FROM stored_responses WHERE id = $1 AND tenant_id = $2',
      [id, tenantId],
    );
    return (rowCount ?? 0) > 0;
  }

  /**
   * Deletes turns older than `before`, unless their conversation has a newer turn. Checks a
   * bounded number of rows and skips those locked by another sweep.
   * @returns where to continue; undefined at the end
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

/** The conversation that a request continues. */
export interface Conversation {
  /** The response named by the caller; null when it named a conversation. */
  previousResponseId: string | null;
  /** Id of the first turn, or of the named conversation. */
  conversationId: string;
  /** The conversation of `/v1/conversations` to append the turn to. */
  storedIn?: string;
  /** Input and output items of all turns, oldest first. */
  items: JsonObject[];
  /** JSON size of the items, which bounds a conversation. */
  contextBytes: number;
}
