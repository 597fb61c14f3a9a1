import { Injectable } from '@nestjs/common';
import { ApiKeyRepository } from '../../../core/access/api-key.repository.js';
import type { Caller } from '../../../core/access/caller.js';
import { readCursor, writeCursor } from '../../../platform/http/cursor-page.js';
import { parseDateRange } from '../../../platform/http/date-range.js';
import { DAY_MS } from '../../../platform/time/dates.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { GuardrailEvents } from '../../../core/guardrails/guardrail-events.service.js';
import { readLogFilters, type NewerLogsQueryDto } from '../../../core/request-log/log-query.dto.js';
import { RequestLogFacetsReader } from '../../../core/request-log/request-log-facets.reader.js';
import { RequestLogOverTenantsReader } from '../../../core/request-log/request-log-over-tenants.reader.js';
import { RequestLogReader } from '../../../core/request-log/request-log.reader.js';
import {
  MAX_LIMIT,
  type LogsQueryDto,
  type LogsExportQueryDto,
  type LogListDto,
  type LogDetailDto,
  type LogFacetsDto,
  type LogFacetsQueryDto,
  type NewerLogsDto,
} from './logs.dto.js';
import { LOG_CSV_HEADER, toLogCsv, toLogRow } from '../../../core/request-log/log-rows.js';
/** Rows per export batch. Encoding 1,000 would block the event loop for more than 30 ms. */
const EXPORT_BATCH_SIZE = 200;
/** Range of the filter value search. */
const FACET_DAYS = 31;

/** Lists and exports a tenant's requests, and their filter values. */
@Injectable()
export class LogsService {
  constructor(
    private readonly requestLog: RequestLogReader,
    private readonly overTenants: RequestLogOverTenantsReader,
    private readonly facetsReader: RequestLogFacetsReader,
    private readonly guardrailEvents: GuardrailEvents,
    private readonly apiKeys: ApiKeyRepository,
  ) {}

  /**
   * @throws InvalidRequestError for a malformed date or cursor
   * @throws NotFoundError for an unknown key
   */
  async list(caller: Caller, query: LogsQueryDto): Promise<LogListDto> {
    const limit = Math.min(query.limit, MAX_LIMIT);
    const { offset, api_key_id: apiKeyId } = query;
    // Malformed filters are reported before an unknown key.
    const { api_key_id: _, ...others } = query;
    const filters = { ...readLogFilters(others), apiKeyId };
    if (apiKeyId !== undefined) await this.requireKey(caller, apiKeyId);
    const [at, id, before = 0] = readCursor(query.cursor, ['time', 'integer', 'integer']) ?? [];
    const after = at !== undefined && id !== undefined ? { at, id } : undefined;
    const page = { limit, offset, after };
    const found = await this.requestLog.pageOfTenant(caller.tenantId, filters, page);
    const { rows, next } = found;
    const seen = Number(before) + Math.min(offset + rows.length, found.total);
    return {
      logs: rows.map(toLogRow),
      pagination: {
        total: Number(before) + found.total,
        total_is_exact: found.isTotalExact,
        limit,
        offset,
        has_more: next !== undefined,
        next_cursor: next ? writeCursor([next.at, next.id, seen]) : null,
      },
    };
  }

  /** @throws InvalidRequestError for a malformed date, tag or key id */
  async newer({ tenantId }: Caller, query: NewerLogsQueryDto): Promise<NewerLogsDto> {
    const { since_id: sinceId, limit } = query;
    const filters = { ...readLogFilters(query), tenantId };
    const rows = await this.overTenants.newer(filters, sinceId, limit);
    return {
      object: 'list',
      data: rows.slice(0, limit).map(toLogRow),
      has_more: rows.length > limit,
    };
  }

  /** @throws NotFoundError when the tenant has no request with this id */
  async get({ tenantId }: Caller, requestId: string): Promise<LogDetailDto> {
    const row = isUuid(requestId)
      ? await this.requestLog.findByRequestId(tenantId, requestId)
      : undefined;
    if (!row) throw new NotFoundError('request_id', 'There is no request with this id.');
    const found = await this.guardrailEvents.ofRequest(tenantId, row.requestId, {
      from: row.createdAt,
      to: new Date(row.createdAt.getTime() + row.latencyMs),
    });
    return {
      ...toLogRow(row),
      streamed: row.streamed,
      finish_reason: row.finishReason,
      generation_time_ms: row.generationTimeMs,
      guardrails: found.map(({ guardrailId, name, action, direction, createdAt }) => ({
        guardrail_id: guardrailId,
        name,
        action,
        direction,
        created_at: createdAt.toISOString(),
      })),
    };
  }

  /** @throws InvalidRequestError for a malformed date */
  async facets({ tenantId }: Caller, query: LogFacetsQueryDto): Promise<LogFacetsDto> {
    const { start } = parseDateRange(query.start_date, undefined);
    const since = start ?? new Date(Date.now() - FACET_DAYS * DAY_MS);
    const { apiKeys, ...facets } = await this.facetsReader.ofTenant(tenantId, since);
    return { ...facets, api_keys: apiKeys };
  }

  /** Yields rows as CSV, newest first. @throws InvalidRequestError for a malformed date or tag */
  async *export(caller: Caller, query: LogsExportQueryDto): AsyncGenerator<string> {
    const filters = readLogFilters(query);
    const batches = this.requestLog.batchesOfTenant(caller.tenantId, filters, EXPORT_BATCH_SIZE);
    let header = LOG_CSV_HEADER;
    for await (const batch of batches) {
      yield header + toLogCsv(batch);
      header = '';
    }
    if (header !== '') yield header;
  }

  /** A mistyped id would otherwise look like an unused key. */
  private async requireKey(caller: Caller, id: string): Promise<void> {
    const key = isUuid(id) ? await this.apiKeys.findOfTenant(caller.tenantId, id) : null;
    if (!key) throw new NotFoundError('api_key_id', 'There is no API key with this id.');
  }
}
