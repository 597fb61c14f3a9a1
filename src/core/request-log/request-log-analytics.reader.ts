import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { Database } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import { type ArchivedSnapshot, archivedRowsSql, readWithEdges } from './archive/archived-edges.js';
import { RequestLogArchive } from './archive/request-log-archive.js';
import type { RequestLogFilters } from './request-log-filters.js';
import { FACT_COLUMNS, LATENCY_BUCKET_SQL, latencyPercentile } from './roll-up-statements.js';
import { splitSpan, toSpan, withinSpan, type Span } from './split-span.js';

export const REQUEST_LOG_GROUPINGS = [
  'model',
  'provider',
  'api_key',
  'day',
  'hour',
  'status',
] as const;
export type RequestLogGrouping = (typeof REQUEST_LOG_GROUPINGS)[number];

/** Latency percentiles in ms, within 5 %. */
export interface LatencyPercentiles {
  latencyP50Ms: number;
  latencyP95Ms: number;
  latencyP99Ms: number;
}

/** Totals of a group; times in ms, money in credits. */
export interface RequestLogGroup extends LatencyPercentiles {
  /** An alias, provider, key id or status, or the start of a day or hour in ISO 8601. */
  group: string;
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  cost: number;
}

interface GroupRow extends Omit<RequestLogGroup, keyof LatencyPercentiles> {
  latencies: (number | null)[];
}

/** Of the pool's ten connections. */
const MAX_CONNECTIONS = 2;

const SUMS = ['requests', 'errors', 'prompt_tokens', 'completion_tokens', 'cost'];

/** Aggregates a tenant's request log from sums, plus rows not summed yet. */
@Injectable()
export class RequestLogAnalyticsReader {
  readonly limit = pLimit(MAX_CONNECTIONS);

  constructor(
    readonly database: Database,
    readonly archive: RequestLogArchive,
  ) {}

  /**
   * Returns the groups with requests: days and hours by time, others by cost, highest first. Counts
   * only whole hours of days whose rows have been swept.
   */
  async groupsOfTenant(
    tenantId: string,
    grouping: RequestLogGrouping,
    range: Pick<RequestLogFilters, 'start' | 'end'>,
  ): Promise<RequestLogGroup[]> {
    return (await this.timedOfTenant(tenantId, grouping, range)).groups;
  }

  /** Returns the same groups plus the latency of all their requests; null without any. */
  timedOfTenant(
    tenantId: string,
    grouping: RequestLogGrouping,
    range: Pick<RequestLogFilters, 'start' | 'end'>,
  ): Promise<{ groups: RequestLogGroup[]; total: LatencyPercentiles | null }> {
    return readWithEdges(
      this,
      tenantId,
      () => toSpan(range),
      async (snapshot) => {
        const rows = await addUp(snapshot, tenantId, grouping);
        const all: number[] = [];
        for (const { latencies } of rows) {
          latencies.forEach((count, bucket) => (all[bucket] = (all[bucket] ?? 0) + (count ?? 0)));
        }
        return {
          groups: rows.map(({ latencies, ...sums }) => ({
            ...sums,
            group: fromStoredText(sums.group),
            ...percentilesOf(latencies),
          })),
          total: rows.length === 0 ? null : percentilesOf(Array.from(all, (count) => count ?? 0)),
        };
      },
    );
  }
}

function percentilesOf(latencies: readonly (number | null)[]): LatencyPercentiles {
  return {
    latencyP50Ms: latencyPercentile(latencies, 0.5) ?? 0,
    latencyP95Ms: latencyPercentile(latencies, 0.95) ?? 0,
    latencyP99Ms: latencyPercentile(latencies, 0.99) ?? 0,
  };
}

async function addUp(
  { client, progress: { rolledUpId, sweptBefore }, span, edgeRows }: ArchivedSnapshot,
  tenantId: string,
  grouping: RequestLogGrouping,
): Promise<GroupRow[]> {
  const parameters: unknown[] = [tenantId];
  const parameter = (value: unknown, type: string) => `$${parameters.push(value)}::${type}`;
  const within = (column: string, span: Span) => withinSpan(column, span, parameter);
  const { days, hoursBefore, hoursAfter, whole, rowsBefore, rowsAfter } = splitSpan(span);

  const isTime = grouping === 'day' || grouping === 'hour';
  const { ofSum, ofRow } = groupExpressions(grouping);
  const dimension = parameter(isTime ? 'all' : grouping, 'text');
  const sumsOf = (grain: 'hour' | 'day', part: Span) => `
    SELECT ${ofSum} AS "group", ${SUMS.join(', ')}, latencies
    FROM request_log_roll_ups
    WHERE tenant_id = $1 AND dimension = ${dimension} AND grain = '${grain}'
      AND ${within('period', part)}`;
  const rowsOf = (source: string, sign: string, condition: string) => `
    SELECT ${sign} AS sign, ${FACT_COLUMNS} FROM ${source} WHERE tenant_id = $1 AND ${condition}`;

  const sums = (
    grouping === 'hour'
      ? [sumsOf('hour', whole)]
      : [sumsOf('day', days), sumsOf('hour', hoursBefore), sumsOf('hour', hoursAfter)]
  ).join(' UNION ALL ');
  const rows = [
    rowsOf(
      'request_logs',
      '1',
      `id > ${parameter(rolledUpId, 'bigint')} AND ${within('created_at', whole)}`,
    ),
    rowsOf('request_log_corrections', 'sign', within('created_at', whole)),
    ...[rowsBefore, rowsAfter]
      .filter(({ start, end }) => start < end && start >= sweptBefore)
      .flatMap((edge) => {
        const tables = ['request_logs'];
        if (edgeRows) tables.push(archivedRowsSql(parameter(edgeRows, 'text')));
        return tables.map((table) => rowsOf(table, '1', within('created_at', edge)));
      }),
  ].join(' UNION ALL ');

  const { rows: groups } = await client.query<GroupRow>(
    `WITH part AS (
       ${sums}
       UNION ALL
       SELECT ${ofRow}, sum(sign)::bigint,
         coalesce(sum(sign) FILTER (WHERE status = 'error'), 0)::bigint,
         sum(sign * prompt_tokens::bigint)::bigint, sum(sign * completion_tokens::bigint)::bigint,
         sum(sign * cost)::bigint, latency_histogram(${LATENCY_BUCKET_SQL}, sign)
       FROM (${rows}) AS row
       GROUP BY 1
     )
     SELECT "group", sum(requests)::bigint AS requests, sum(errors)::bigint AS errors,
       sum(prompt_tokens)::bigint AS "promptTokens",
       sum(completion_tokens)::bigint AS "completionTokens", sum(cost)::bigint AS cost,
       sum_latencies(latencies) AS latencies
     FROM part GROUP BY "group" HAVING sum(requests) > 0
     ORDER BY ${isTime ? '"group"' : 'cost DESC, requests DESC, "group"'}`,
    parameters,
  );
  return groups;
}

/** Returns SQL for a row's group, in the sums and in the log. */
function groupExpressions(grouping: RequestLogGrouping): { ofSum: string; ofRow: string } {
  const isoTime = (time: string) =>
    `to_char(date_trunc('${grouping}', ${time}, 'UTC') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  switch (grouping) {
    case 'day':
    case 'hour':
      return { ofSum: isoTime('period'), ofRow: isoTime('created_at') };
    case 'api_key':
      return { ofSum: 'value', ofRow: 'api_key_id::text' };
    default:
      return { ofSum: 'value', ofRow: grouping };
  }
}
