import { toStoredText } from '../../platform/database/stored-text.js';
import type { HoldEntry } from './ledger-entry.js';

/** A row of `holds` as the opening statements take it. */
export function toHoldRow({ operation, granted = operation.amount }: HoldEntry) {
  return {
    request_id: operation.requestId,
    tenant_id: operation.tenantId,
    amount: granted,
    api_key_id: operation.apiKeyId,
    endpoint: toStoredText(operation.endpoint),
    model: toStoredText(operation.model),
    provider: toStoredText(operation.provider),
    streamed: operation.streamed,
    created_at: operation.createdAt,
  };
}

/** The same for a statement that decides itself how much is set aside; `place` keeps the order. */
export function toRangeRow(entry: HoldEntry, place: number) {
  const { amount, range } = entry.operation;
  return {
    ...toHoldRow(entry),
    amount,
    place,
    most: range?.most ?? amount,
    base: range?.base ?? 0,
  };
}
