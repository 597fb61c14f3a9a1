import { Injectable } from '@nestjs/common';
import { Database } from '../common/database/database.js';
import { fromStoredText } from '../common/database/stored-text.js';
import { Turnstile } from '../common/database/turnstile.js';
import { conditionOf, type RequestLogFilters } from './request-log-filters.js';
import type { RequestLogRow } from './request-log-row.js';

/** A part of a list: at most `limit` rows after the first `offset`. */
export interface Page {
  limit: number;
  offset: number;
}

/** Of the pool's ten connections. Listing and counting take longer the more rows a tenant has. */
const MAX_CONNECTIONS = 3;

const COLUMNS = `
  request_logs.id::text AS id, request_id AS "requestId", api_key_id AS "apiKeyId", endpoint, model, provider,
  status, outcome, error_type AS "errorType", finish_reason AS "finishReason",
  traffic_mode AS "trafficMode", prompt_tokens AS "promptTokens",
  completion_tokens AS "completionTokens", usage_source AS "usageSource", cost,
  model_charge AS "modelCharge", byok_platform_fee AS "byokPlatformFee",
  managed_tool_fee AS "managedToolFee", agent_runtime_fee AS "agentRuntimeFee",
  billing_note AS "billingNote", streamed, latency_ms AS "latencyMs",
  generation_time_ms AS "generationTimeMs", created_at AS "createdAt"`;

/** Reads the request log; every method is bound to one tenant. The ledger writes it. */
@Injectable()
export class RequestLogReader {
  private readonly turnstile = new Turnstile(MAX_CONNECTIONS);

  constructor(private readonly database: Database) {}

  /** Newest first. */
  async listOfTenant(
    tenantId: string,
    filters: RequestLogFilters,
    page: Page,
  ): Promise<RequestLogRow[]> {
    const { sql, values } = conditionOf(tenantId, filters);
    const { rows } = await this.turnstile.run(() =>
      this.database.query<RequestLogRow>(
        // A bare `id` would be the column of the answer, which is text.
        `SELECT ${COLUMNS} FROM request_logs WHERE ${sql}
          ORDER BY created_at DESC, request_logs.id DESC
          LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
        [...values, page.limit, page.offset],
      ),
    );
    return rows.map(withTextRead);
  }

  async countOfTenant(tenantId: string, filters: RequestLogFilters): Promise<number> {
    const { sql, values } = conditionOf(tenantId, filters);
    const { rows } = await this.turnstile.run(() =>
      this.database.query<{ total: number }>(
        `SELECT count(*) AS total FROM request_logs WHERE ${sql}`,
        values,
      ),
    );
    return rows[0]?.total ?? 0;
  }

  /** @param requestId a UUID */
  async findByRequestId(tenantId: string, requestId: string): Promise<RequestLogRow | undefined> {
    const { rows } = await this.database.query<RequestLogRow>(
      `SELECT ${COLUMNS} FROM request_logs WHERE tenant_id = $1 AND request_id = $2`,
      [tenantId, requestId],
    );
    return rows.map(withTextRead)[0];
  }
}

/** Undoes `toStoredText`, which the ledger applies to every text of a row. */
function withTextRead(row: RequestLogRow): RequestLogRow {
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
