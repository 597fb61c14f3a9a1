import type {
  RequestLogGroup,
  RequestLogGrouping,
} from '../../src/core/request-log/request-log-analytics.reader.js';
import type { RequestLogFilters } from '../../src/core/request-log/request-log-filters.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';

/** Returns whether a row passes a filter. */
export function isLeftBy(row: RequestLogRow, filter: RequestLogFilters): boolean {
  return (
    (filter.status === undefined || row.status === filter.status) &&
    (filter.model === undefined || row.model === filter.model) &&
    (filter.apiKeyId === undefined || row.apiKeyId === filter.apiKeyId) &&
    (filter.start === undefined || row.createdAt >= filter.start) &&
    (filter.end === undefined || row.createdAt < filter.end)
  );
}

/** Computes the expected sums from the rows. */
export function addUp(
  rows: readonly RequestLogRow[],
  grouping: RequestLogGrouping,
): RequestLogGroup[] {
  const groups = new Map<string, RequestLogRow[]>();
  for (const row of rows) {
    const name = groupOf(row, grouping);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].map(([group, members]) => {
    const sum = (value: (row: RequestLogRow) => number) =>
      members.reduce((total, row) => total + value(row), 0);
    const latencies = members.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
    const percentile = (fraction: number) => latencies[Math.ceil(latencies.length * fraction) - 1]!;
    return {
      group,
      requests: members.length,
      errors: sum(({ status }) => (status === 'error' ? 1 : 0)),
      promptTokens: sum((row) => row.promptTokens),
      completionTokens: sum((row) => row.completionTokens),
      cost: sum((row) => row.cost),
      latencyP50Ms: percentile(0.5),
      latencyP95Ms: percentile(0.95),
      latencyP99Ms: percentile(0.99),
    };
  });
}

function groupOf(row: RequestLogRow, grouping: RequestLogGrouping): string {
  const iso = row.createdAt.toISOString();
  switch (grouping) {
    case 'day':
      return `${iso.slice(0, 10)}T00:00:00Z`;
    case 'hour':
      return `${iso.slice(0, 13)}:00:00Z`;
    case 'api_key':
      return row.apiKeyId;
    default:
      return row[grouping];
  }
}

/** Returns a group without its percentiles, which are approximate. */
export function sumsOf({
  latencyP50Ms: _,
  latencyP95Ms: __,
  latencyP99Ms: ___,
  group: ____,
  ...sums
}: RequestLogGroup) {
  return sums;
}

/** Adds up all groups. */
export function totalOf(groups: readonly RequestLogGroup[]): { requests: number; cost: number } {
  return {
    requests: groups.reduce((sum, { requests }) => sum + requests, 0),
    cost: groups.reduce((sum, { cost }) => sum + cost, 0),
  };
}
