import { Injectable } from '@nestjs/common';
import { ApiKeyRepository } from '../../access/api-key.repository.js';
import type { Caller } from '../../access/caller.js';
import { isUuid } from '../../common/database/is-uuid.js';
import { NotFoundError } from '../../common/errors/gateway-errors.js';
import { parseDateRange } from '../../common/time/parse-date-range.js';
import { RequestLogReader } from '../../request-log/request-log.reader.js';
import type { LogListDto } from './dto/log-list.dto.js';
import { MAX_LIMIT, type LogsQueryDto } from './dto/logs-query.dto.js';
import { toLogRow } from './to-log-row.js';

@Injectable()
export class LogsService {
  constructor(
    private readonly requestLog: RequestLogReader,
    private readonly apiKeys: ApiKeyRepository,
  ) {}

  /** @throws InvalidRequestError on a malformed date, NotFoundError on a key that is not the tenant's */
  async list(caller: Caller, query: LogsQueryDto): Promise<LogListDto> {
    const limit = Math.min(query.limit, MAX_LIMIT);
    const { offset, status, model, api_key_id: apiKeyId } = query;
    const range = parseDateRange(query.start_date, query.end_date);
    if (apiKeyId !== undefined) await this.requireKey(caller, apiKeyId);

    const filters = { status, model, apiKeyId, ...range };
    const { rows, total } = await this.requestLog.pageOfTenant(caller.tenantId, filters, {
      limit,
      offset,
    });
    return {
      logs: rows.map(toLogRow),
      pagination: { total, limit, offset, has_more: offset + rows.length < total },
    };
  }

  /** A mistyped id would otherwise look like a key that was never used. */
  private async requireKey(caller: Caller, id: string): Promise<void> {
    const key = isUuid(id) ? await this.apiKeys.findOfTenant(caller.tenantId, id) : null;
    if (!key) throw new NotFoundError('api_key_id', 'There is no API key with this id.');
  }
}
