import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import type { SettlementRecord } from '../../core/ledger/ledger-operations.js';
import { itemsOfInput } from './complete-body.js';
import {
  addItemsSql,
  itemRows,
  type ListedItem,
} from './conversations/stored-conversations.repository.js';
import { isStorableId } from './item-id.js';
import { withItemIds } from './list-input-items.js';
import type { AnswerSnapshot } from './response-answer.js';

/** One turn of a conversation, as far as going on from it needs. */
interface TurnRow {
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
  /** False when all rows together are larger than asked for; their items are null then. */
  fits: boolean;
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
           sum(
             octet_length(output_items) +
             CASE WHEN stored.id = ANY ($3::text[]) THEN octet_length(input_items) ELSE 0 END
           ) OVER () <= $5 AS fits
         FROM referred JOIN stored_responses AS stored USING (id)
       )
       SELECT id, fits, CASE WHEN fits THEN output_items END AS output_items,
         CASE WHEN fits THEN input_items END AS input_items
       FROM measured ORDER BY created_at DESC, id DESC`,
      [tenantId, responseIds, inputsOf, vendorItemIds, maxBytes],
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

/** A turn of a conversation, ready to be kept. */
export interface StoredTurn {
  id: string;
  tenantId: string;
  requestId: string;
  createdAt: Date;
  conversation: Conversation | undefined;
  /** JSON of the turn's own input, text or items. */
  input: string;
  /** The items of it, with what they refer to. */
  ownItems: readonly JsonObject[];
  answer: AnswerSnapshot;
  /** False where only its conversation has it. */
  isStored: boolean;
  /** Whether it was made in the background; the work is done then. */
  isBackground?: boolean;
}

const INSERT_RESPONSE = `
  INSERT INTO stored_responses (
    id, tenant_id, request_id, conversation_id, previous_response_id, model, status,
    input_items, output_items, response, context_bytes, created_at, vendor_item_ids
  ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  ON CONFLICT (id) DO NOTHING`;

const CONVERSATION_ID = { conversation: '$14::text', rows: '$15' };
const ADD_ITEMS = addItemsSql({ ...CONVERSATION_ID, tenant: '$2::uuid', batch: '$1::text' });
const ADD_ITEMS_ALONE = addItemsSql({
  conversation: '$3::text',
  tenant: '$2::uuid',
  batch: '$1::text',
  rows: '$4',
});

/**
 * The statement that keeps a turn, in its conversation as well where it has one; it is committed
 * together with the turn's settlement.
 */
export function storedResponseRecord(turn: StoredTurn): SettlementRecord {
  const { id, tenantId, conversation, answer, isStored, isBackground = false } = turn;
  const isComplete = answer.status === 'completed' || answer.status === 'incomplete';
  const storedIn = isComplete ? conversation?.storedIn : undefined;
  if (storedIn === undefined) {
    if (!isBackground) return record('store-response', [], INSERT_RESPONSE, rowOf(turn));
    const text = [END_BACKGROUND];
    return record('store-background-response', text, INSERT_RESPONSE, rowOf(turn));
  }
  const said = [storedIn, itemRows(itemsOf(turn))];
  if (!isStored) {
    const { known, insert } = ADD_ITEMS_ALONE;
    return record('add-to-conversation', [`known AS (${known})`], insert, [id, tenantId, ...said]);
  }
  const parts = [`known AS (${ADD_ITEMS.known})`, `added AS (${ADD_ITEMS.insert})`];
  const values = [...rowOf(turn), ...said];
  return isBackground
    ? record('store-background-turn', [...parts, END_BACKGROUND], INSERT_RESPONSE, values)
    : record('store-turn', parts, INSERT_RESPONSE, values);
}

const END_BACKGROUND = `ended AS (DELETE FROM background_responses WHERE id = $1::text)`;

function record(
  name: string,
  parts: readonly string[],
  text: string,
  values: SettlementRecord['values'],
): SettlementRecord {
  return { name, text: parts.length === 0 ? text : `WITH ${parts.join(', ')} ${text}`, values };
}

// JSON text spells NUL and lone surrogates as escapes, so PostgreSQL takes it as it is.
function rowOf(turn: StoredTurn): SettlementRecord['values'] {
  const { id, conversation, input, answer } = turn;
  const ownBytes = Buffer.byteLength(input) + Buffer.byteLength(answer.output);
  return [
    id,
    turn.tenantId,
    turn.requestId,
    conversation?.conversationId ?? id,
    conversation?.previousResponseId ?? null,
    toStoredText(answer.model),
    answer.status,
    input,
    answer.output,
    answer.response,
    (conversation?.contextBytes ?? 0) + ownBytes,
    turn.createdAt,
    toArrayLiteral(answer.vendorItemIds ?? []),
  ];
}

/** What the turn adds to its conversation: what was said, and the answer. */
function itemsOf({ id, ownItems, answer }: StoredTurn): ListedItem[] {
  const output: unknown = JSON.parse(answer.output);
  const items = [...ownItems, ...itemsOfInput(output)];
  return withItemIds(
    id,
    items.map((item) => (isStorableId(item.id) ? item : { ...item, id: undefined })),
  );
}

/** As PostgreSQL spells an array; the ids hold nothing that would need an escape. */
function toArrayLiteral(ids: readonly string[]): string | null {
  return ids.length === 0 ? null : `{${ids.map((id) => `"${id}"`).join()}}`;
}
