import { fromStoredText } from '../../../platform/database/stored-text.js';
import type { RequestLogRow } from './request-log-row.js';

/** What a statement selects to answer rows of `RequestLogRow`, to be read with `withTextRead`. */
export const ROW_COLUMNS = `
  request_logs.id::text AS id, request_id AS "requestId", api_key_id AS "apiKeyId", endpoint, model, provider,
  status, outcome, error_type AS "errorType", finish_reason AS "finishReason",
  traffic_mode AS "trafficMode", prompt_tokens AS "promptTokens",
  completion_tokens AS "completionTokens", usage_source AS "usageSource", cost,
  model_charge AS "modelCharge", byok_platform_fee AS "byokPlatformFee",
  managed_tool_fee AS "managedToolFee", agent_runtime_fee AS "agentRuntimeFee",
  billing_note AS "billingNote", streamed, latency_ms AS "latencyMs",
  generation_time_ms AS "generationTimeMs", created_at AS "createdAt"`;

/** Undoes `toStoredText`, which the ledger applies to every text of a row. */
export function withTextRead<Row extends RequestLogRow>(row: Row): Row {
  return {
    ...row,
    endpoint: fromStoredText(row.endpoint),
    model: fromStoredText(row.model),
    provider: fromStoredText(row.provider),
    errorType: readNullableText(row.errorType),
    finishReason: readNullableText(row.finishReason),
    billingNote: readNullableText(row.billingNote),
  };
}

function readNullableText(stored: string | null): string | null {
  return stored === null ? null : fromStoredText(stored);
}
