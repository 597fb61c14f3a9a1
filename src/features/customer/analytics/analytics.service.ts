import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { parseDateRange } from '../../../platform/http/date-range.js';
import {
  RequestLogAnalyticsReader,
  type RequestLogGroup,
} from '../../../core/ledger/request-log/request-log-analytics.reader.js';
import type { AnalyticsDto, AnalyticsGroupDto, AnalyticsQueryDto } from './analytics.dto.js';

@Injectable()
export class AnalyticsService {
  constructor(private readonly analytics: RequestLogAnalyticsReader) {}

  /** @throws InvalidRequestError on a malformed date */
  async get(caller: Caller, query: AnalyticsQueryDto): Promise<AnalyticsDto> {
    const range = parseDateRange(query.start_date, query.end_date);
    const groups = await this.analytics.groupsOfTenant(caller.tenantId, query.group_by, range);
    return { group_by: query.group_by, data: groups.map(toGroup) };
  }
}

function toGroup(group: RequestLogGroup): AnalyticsGroupDto {
  return {
    group: group.group,
    requests: group.requests,
    errors: group.errors,
    error_rate: group.errors / group.requests,
    tokens: {
      prompt: group.promptTokens,
      completion: group.completionTokens,
      total: group.promptTokens + group.completionTokens,
    },
    cost: group.cost,
    latency_p50: group.latencyP50Ms,
    latency_p99: group.latencyP99Ms,
  };
}
