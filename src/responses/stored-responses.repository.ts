import { Injectable } from '@nestjs/common';
import { Database } from '../common/database/database.js';

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

export interface StoredResponseRow {
  response: string;
  output_items: string;
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

  async findResponse(tenantId: string, id: string): Promise<StoredResponseRow | undefined> {
    const { rows } = await this.database.query<StoredResponseRow>(
      'SELECT response, output_items FROM stored_responses WHERE id = $1 AND tenant_id = $2',
      [id, tenantId],
    );
    return rows[0];
  }

  /** JSON text of a turn's own input. */
  async findInput(tenantId: string, id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ input_items: string }>(
      'SELECT input_items FROM stored_responses WHERE id = $1 AND tenant_id = $2',
      [id, tenantId],
    );
    return rows[0]?.input_items;
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
