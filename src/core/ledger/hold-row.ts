import { toStoredText } from '../../platform/database/stored-text.js';
import type { HoldEntry } from './ledger-entry.js';

/** A row of `holds` as the opening statements take it. */
export function toHoldRow({ operation }: HoldEntry) {
  return {
    request_id: operation.requestId,
    tenant_id: operation.tenantId,
    amount: operation.amount,
    api_key_id: operation.apiKeyId,
    endpoint: toStoredText(operation.endpoint),
    model: toStoredText(operation.model),
    provider: toStoredText(operation.provider),
    streamed: operation.streamed,
    created_at: operation.createdAt,
  };
}
