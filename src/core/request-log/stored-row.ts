import { fromStoredText } from '../../platform/database/stored-text.js';
import { instantSql } from './archive/archive-format.js';
import type { LogPlace } from './log-dimensions.js';
import type { LoggedAttempt, RequestLogRow } from './request-log-row.js';

/** Selects rows as `RequestLogRow`; read them with `withTextRead`. */
export const ROW_COLUMNS = `
  request_logs.id::text AS id, request_id AS "requestId", api_key_id AS "apiKeyId", endpoint, model, provider,
  status, outcome, error_type AS "errorType", finish_reason AS "finishReason",
  traffic_mode AS "trafficMode", prompt_tokens AS "promptTokens",
  completion_tokens AS "completionTokens", usage_source AS "usageSource", cost,
  model_charge AS "modelCharge", byok_platform_fee AS "byokPlatformFee",
  managed_tool_fee AS "managedToolFee", agent_runtime_fee AS "agentRuntimeFee",
  billing_note AS "billingNote", streamed, latency_ms AS "latencyMs",
  generation_time_ms AS "generationTimeMs", first_token_ms AS "firstTokenMs",
  vendor_cost AS "vendorCost", vendor_started_ms AS "vendorStartedMs", attempts,
  end_user AS "endUser", tags, created_at AS "createdAt",
  cache_read_tokens AS "cacheReadTokens", cache_write_tokens AS "cacheWriteTokens",
  reasoning_tokens AS "reasoningTokens", shortfall, price_sheet AS "priceSheet",
  other_usage AS "otherUsage", config_version AS "configVersion"`;

/** Selects rows of any tenant, with their position in lists. */
export const TENANT_ROW_COLUMNS = `${ROW_COLUMNS}, tenant_id AS "tenantId", ${instantSql('request_logs.created_at')} AS at`;

/** A row of the table. */
export type StoredRow = Omit<RequestLogRow, 'attempts'> & {
  attempts: readonly LoggedAttempt[] | null;
  vendorStartedMs: number | null;
};

export type StoredTenantRow = StoredRow & LogPlace & { tenantId: string };

/** A row of any tenant. */
export type TenantLogRow = RequestLogRow & LogPlace & { tenantId: string };

/** Reverses `toStoredText`, which the ledger applies to all text of a row. */
export function withTextRead<Row extends StoredRow>({ vendorStartedMs, ...row }: Row) {
  return {
    ...row,
    attempts: attemptsOf(vendorStartedMs, row),
    endUser: readNullableText(row.endUser),
    endpoint: fromStoredText(row.endpoint),
    model: fromStoredText(row.model),
    provider: fromStoredText(row.provider),
    errorType: readNullableText(row.errorType),
    finishReason: readNullableText(row.finishReason),
    billingNote: readNullableText(row.billingNote),
  };
}

/** Returns a row's attempts; a request with a single successful call stores no list. */
function attemptsOf(
  startedMs: number | null,
  row: Omit<StoredRow, 'vendorStartedMs'>,
): readonly LoggedAttempt[] {
  if (row.attempts) {
    return row.attempts.map((attempt) => ({ ...attempt, route: fromStoredText(attempt.route) }));
  }
  if (startedMs === null) return [];
  return [
    {
      route: fromStoredText(`${row.provider}/${row.model}`),
      outcome: 'answered',
      status: 200,
      started_ms: startedMs,
      duration_ms: Math.max(0, row.latencyMs - startedMs),
      vendor_cost: row.vendorCost ?? 0,
    },
  ];
}

function readNullableText(stored: string | null): string | null {
  return stored === null ? null : fromStoredText(stored);
}
