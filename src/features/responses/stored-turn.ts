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

/** A turn to store. */
export interface StoredTurn {
  id: string;
  tenantId: string;
  requestId: string;
  createdAt: Date;
  conversation: Conversation | undefined;
  /** JSON of the turn's own input: text or items. */
  input: string;
  /** Own items with references resolved. */
  ownItems: readonly JsonObject[];
  answer: AnswerSnapshot;
  /** False when only its conversation stores it. */
  isStored: boolean;
  /** True when it ran in the background; its work row is then removed. */
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
 * Builds the statement that stores a turn, also in its conversation if it has one. Committed
 * together with the settlement.
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

// JSON escapes NUL and lone surrogates, so PostgreSQL accepts it unchanged.
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

/** Returns the items that the turn adds to its conversation: input and answer. */
function itemsOf({ id, ownItems, answer }: StoredTurn): ListedItem[] {
  const output: unknown = JSON.parse(answer.output);
  const items = [...ownItems, ...itemsOfInput(output)];
  return withItemIds(
    id,
    items.map((item) => (isStorableId(item.id) ? item : { ...item, id: undefined })),
  );
}

/** Formats a PostgreSQL array. The ids need no escaping. */
function toArrayLiteral(ids: readonly string[]): string | null {
  return ids.length === 0 ? null : `{${ids.map((id) => `"${id}"`).join()}}`;
}
