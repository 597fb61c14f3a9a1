import { toStoredText } from '../../platform/database/stored-text.js';
import type { JsonObject } from '../../platform/http/json-body.js';
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
import type { Conversation } from './stored-responses.repository.js';

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
