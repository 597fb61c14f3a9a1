import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { readDimensions } from '../../../core/request-log/log-dimensions.js';
import {
  toGroupList,
  type LogGroupDto,
  type LogSumsDto,
} from '../../../core/request-log/log-groups.dto.js';
import { readLogFilters } from '../../../core/request-log/log-query.dto.js';
import {
  REQUEST_LOG_GROUPINGS,
  RequestLogAnalyticsReader,
  type LatencyPercentiles,
  type RequestLogGroup,
} from '../../../core/request-log/request-log-analytics.reader.js';
import {
  RequestLogGroupsReader,
  type LogGroups,
} from '../../../core/request-log/request-log-groups.reader.js';
import type {
  AnalyticsDto,
  AnalyticsGroupDto,
  AnalyticsQueryDto,
  AnalyticsSumsDto,
} from './analytics.dto.js';

/** Aggregates a tenant's requests by the requested dimensions. */
@Injectable()
export class AnalyticsService {
  constructor(
    private readonly analytics: RequestLogAnalyticsReader,
    private readonly requestGroups: RequestLogGroupsReader,
  ) {}

  /** @throws InvalidRequestError for a malformed dimension, date or tag */
  async get({ tenantId }: Caller, query: AnalyticsQueryDto): Promise<AnalyticsDto> {
    const dimensions = readDimensions(query.group_by);
    const { start, end, ...filters } = readLogFilters(query);
    const range = { start, end };
    const { limit } = query;
    const found = await this.requestGroups.groups({ tenantId, dimensions, filters, range, limit });
    const grouping = REQUEST_LOG_GROUPINGS.find((name) => name === query.group_by);
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    if (!grouping || isFiltered) {
      const list = toGroupList(dimensions, found);
      return {
        ...list,
        data: list.data.map((group) => toAnalyticsGroup(group, null)),
        total: withPercentiles(list.total, null),
      };
    }
    const { groups, total } = await this.analytics.timedOfTenant(tenantId, grouping, range);
    const list = toGroupList(dimensions, withOldSums(found, groups, limit));
    return {
      ...list,
      data: list.data.map((group, at) => toAnalyticsGroup(group, groups[at] ?? null)),
      total: withPercentiles(list.total, total),
    };
  }
}

/** Sums by one dimension cover older months, which were deleted before other dimensions existed. */
function withOldSums(
  { groups, total }: LogGroups,
  timed: readonly RequestLogGroup[],
  limit: number,
): LogGroups {
  const known = new Map(groups.map((group) => [group.values[0], group]));
  const sum = (value: (group: RequestLogGroup) => number) =>
    timed.reduce((whole, group) => whole + value(group), 0);
  return {
    groups: timed.slice(0, limit).map((group) => {
      const { shortfall = 0, vendorCost = 0, latencyMs = 0 } = known.get(group.group) ?? {};
      return { shortfall, vendorCost, latencyMs, ...group, values: [group.group], isRest: false };
    }),
    count: timed.length,
    total: {
      ...total,
      requests: sum(({ requests }) => requests),
      errors: sum(({ errors }) => errors),
      promptTokens: sum(({ promptTokens }) => promptTokens),
      completionTokens: sum(({ completionTokens }) => completionTokens),
      cost: sum(({ cost }) => cost),
    },
  };
}

function toAnalyticsGroup(group: LogGroupDto, timed: LatencyPercentiles | null): AnalyticsGroupDto {
  const values = Object.values(group.groups);
  return {
    group: values.map((value) => value ?? '').join(', '),
    ...withPercentiles(group, timed),
  };
}

function withPercentiles<Sums extends LogSumsDto>(
  sums: Sums,
  timed: LatencyPercentiles | null,
): Sums & AnalyticsSumsDto {
  return {
    ...sums,
    latency_p50: timed?.latencyP50Ms ?? null,
    latency_p95: timed?.latencyP95Ms ?? null,
    latency_p99: timed?.latencyP99Ms ?? null,
  };
}
