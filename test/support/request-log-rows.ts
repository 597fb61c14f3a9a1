import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/platform/database/database.js';
import { toStoredText } from '../../src/platform/database/stored-text.js';
import { ArchiveBucket } from '../../src/core/request-log/archive/archive-bucket.js';
import { RequestLogArchive } from '../../src/core/request-log/archive/request-log-archive.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';

/** An archive for readers of a log without archived rows. */
export function noArchive(): RequestLogArchive {
  return new RequestLogArchive(new ArchiveBucket({ s3: undefined }));
}

/** A completed request on shared capacity; omitted fields do not matter to the test. */
export function requestLogRow(overrides: Partial<RequestLogRow> = {}): RequestLogRow {
  return {
    id: '1',
    requestId: randomUUID(),
    apiKeyId: randomUUID(),
    endpoint: 'chat',
    model: 'sandbox/echo',
    provider: 'sandbox',
    status: 'success',
    outcome: 'completed',
    errorType: null,
    finishReason: 'stop',
    trafficMode: 'shared',
    promptTokens: 10,
    completionTokens: 5,
    usageSource: 'upstream',
    cost: 20,
    modelCharge: 20,
    byokPlatformFee: 0,
    managedToolFee: 0,
    agentRuntimeFee: 0,
    billingNote: null,
    streamed: false,
    latencyMs: 120,
    generationTimeMs: 100,
    firstTokenMs: null,
    vendorCost: null,
    attempts: [],
    endUser: null,
    tags: null,
    createdAt: new Date('2026-01-15T12:00:00Z'),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    shortfall: 0,
    priceSheet: null,
    otherUsage: null,
    configVersion: null,
    ...overrides,
  };
}

/** Inserts a log row without the ledger. @returns the row as it is read back */
export async function insertRequestLogRow(
  database: Database,
  tenantId: string,
  overrides: Partial<RequestLogRow> = {},
): Promise<RequestLogRow> {
  const row = requestLogRow(overrides);
  // Older schemas have none of these.
  const added = Object.entries({
    first_token_ms: row.firstTokenMs,
    vendor_cost: row.vendorCost,
    attempts: row.attempts.length === 0 ? null : JSON.stringify(row.attempts),
    end_user: storedOrNull(row.endUser),
    tags: row.tags && JSON.stringify(row.tags),
    price_sheet: row.priceSheet,
    other_usage: row.otherUsage,
    config_version: row.configVersion,
  }).filter(([, value]) => value !== null);
  const { rows } = await database.query<{ id: number }>(
    `INSERT INTO request_logs
       (request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome, error_type,
        finish_reason, traffic_mode, prompt_tokens, completion_tokens, cache_read_tokens,
        cache_write_tokens, reasoning_tokens, usage_source, cost, model_charge, byok_platform_fee,
        managed_tool_fee, agent_runtime_fee, billing_note, streamed, latency_ms,
        generation_time_ms, created_at, shortfall${added.map(([name]) => `, ${name}`).join('')})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $25, $26, $27, $14, $15, $16,
             $17, $18, $19, $20, $21, $22, $23, $24, $28${added.map((_, index) => `, $${29 + index}`).join('')})
     RETURNING id`,
    [
      row.requestId,
      tenantId,
      row.apiKeyId,
      toStoredText(row.endpoint),
      toStoredText(row.model),
      toStoredText(row.provider),
      row.status,
      row.outcome,
      storedOrNull(row.errorType),
      storedOrNull(row.finishReason),
      row.trafficMode,
      row.promptTokens,
      row.completionTokens,
      row.usageSource,
      row.cost,
      row.modelCharge,
      row.byokPlatformFee,
      row.managedToolFee,
      row.agentRuntimeFee,
      storedOrNull(row.billingNote),
      row.streamed,
      row.latencyMs,
      row.generationTimeMs,
      row.createdAt,
      row.cacheReadTokens,
      row.cacheWriteTokens,
      row.reasoningTokens,
      row.shortfall,
      ...added.map(([, value]) => value),
    ],
  );
  return { ...row, id: String(rows[0]?.id) };
}

function storedOrNull(text: string | null): string | null {
  return text === null ? null : toStoredText(text);
}
