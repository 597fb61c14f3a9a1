import { toStoredText } from '../../platform/database/stored-text.js';
import type { SettlementRecord } from '../../core/ledger/ledger-operations.js';
import type { Conversation } from './conversation.js';
import type { AnswerSnapshot } from './response-answer.js';

/** A turn of a conversation, ready to be kept. */
export interface StoredTurn {
  id: string;
  tenantId: string;
  requestId: string;
  createdAt: Date;
  conversation: Conversation | undefined;
  /** JSON of the turn's own input, text or items. */
  input: string;
  answer: AnswerSnapshot;
}

/** The statement that keeps a turn; it is committed together with the turn's settlement. */
export function storedResponseRecord(turn: StoredTurn): SettlementRecord {
  const { id, conversation, input, answer } = turn;
  const ownBytes = Buffer.byteLength(input) + Buffer.byteLength(answer.output);
  return {
    name: 'store-response',
    text: `
      INSERT INTO stored_responses (
        id, tenant_id, request_id, conversation_id, previous_response_id, model, status,
        input_items, output_items, response, context_bytes, created_at, vendor_item_ids
      ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      ON CONFLICT (id) DO NOTHING`,
    // JSON text spells NUL and lone surrogates as escapes, so PostgreSQL takes it as it is.
    values: [
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
    ],
  };
}

/** As PostgreSQL spells an array; the ids hold nothing that would need an escape. */
function toArrayLiteral(ids: readonly string[]): string | null {
  return ids.length === 0 ? null : `{${ids.map((id) => `"${id}"`).join()}}`;
}
