import { Injectable } from '@nestjs/common';
import { ApiKeyRepository } from '../../../core/access/api-key.repository.js';
import type { Caller } from '../../../core/access/caller.js';
import { readCursor, writeCursor } from '../../../platform/http/cursor-page.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { readLogFilters } from '../../../core/ledger/request-log/log-query.dto.js';
import { RequestLogReader } from '../../../core/ledger/request-log/request-log.reader.js';
import {
  MAX_LIMIT,
  type LogsQueryDto,
  type LogsExportQueryDto,
  type LogListDto,
} from './logs.dto.js';
import { LOG_CSV_HEADER, toLogCsv, toLogRow } from '../../../core/ledger/request-log/log-rows.js';
/** Rows that an export reads at once. */
const EXPORT_BATCH_SIZE = 1_000;

@Injectable()
export class LogsService {
  constructor(
    private readonly requestLog: RequestLogReader,
    private readonly apiKeys: ApiKeyRepository,
  ) {}

  /** @throws InvalidRequestError on a malformed date or cursor, NotFoundError on a key that is not the tenant's */
  async list(caller: Caller, query: LogsQueryDto): Promise<LogListDto> {
    const limit = Math.min(query.limit, MAX_LIMIT);
    const { offset, api_key_id: apiKeyId } = query;
    // A malformed date or tag is told of before a key that is not there.
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

  /** Rows as CSV, newest first, piece by piece. @throws InvalidRequestError on a malformed date or tag */
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

  /** A mistyped id would otherwise look like a key that was never used. */
  private async requireKey(caller: Caller, id: string): Promise<void> {
    const key = isUuid(id) ? await this.apiKeys.findOfTenant(caller.tenantId, id) : null;
    if (!key) throw new NotFoundError('api_key_id', 'There is no API key with this id.');
  }
}
