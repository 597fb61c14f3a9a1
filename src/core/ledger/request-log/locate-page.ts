import { type ArchivedSnapshot, archivedRowsSql } from './archive/archived-edges.js';
import { instantSql } from './archive/archive-format.js';
import { conditionOf, type RequestLogFilters } from './request-log-filters.js';
import { splitSpan, type Span } from './split-span.js';

/** A part of a list: at most `limit` rows after the first `offset`. */
export interface Page {
  limit: number;
  offset: number;
}

/** Where in time the rows of a page lie. */
export interface PageLocation {
  /** Rows that the filters leave, on all pages. */
  total: number;
  /** Spans with both ends included, newest first: all that match in them is a part of the list. */
  spans: { first: string; last: string }[];
  /** Matching rows to leave out at the beginning of the newest span. */
  skip: number;
}

interface LocationRow {
  total: number;
  first: string | null;
  last: string | null;
  before: number | null;
}

/**
 * Counts the rows of a list and finds the hours that hold a page of it, without looking at the rows
 * of other hours: whole hours are counted by their sums and what is not in those yet, the hours
 * that are cut at the ends of the span by their rows.
 */
export async function locatePage(
  { client, progress, span, edgeRows }: ArchivedSnapshot,
  tenantId: string,
  filters: RequestLogFilters,
  page: Page,
): Promise<PageLocation> {
  const { sql, values } = conditionOf(tenantId, filters);
  const parameters = [...values];
  const parameter = (value: unknown, type: string) => `$${parameters.push(value)}::${type}`;
  const within = (column: string, { start, end }: Span) =>
    `${column} >= ${parameter(start, 'timestamptz')} AND ${column} < ${parameter(end, 'timestamptz')}`;

  const { whole, rowsBefore, rowsAfter } = splitSpan(span);
  const rowsOf = (source: string, sign: string, condition: string) => `
      SELECT date_trunc('hour', created_at, 'UTC') AS hour, ${sign} AS requests,
        created_at AS first, created_at AS last
      FROM ${source} WHERE ${sql} AND ${condition}`;
  const parts = [
    `SELECT hour, requests, first_created_at AS first, last_created_at AS last
      FROM request_log_counts WHERE ${sql} AND ${within('hour', whole)}`,
    rowsOf(
      'request_logs',
      '1',
      `id > ${parameter(progress.rolledUpId, 'bigint')} AND ${within('created_at', whole)}`,
    ),
    rowsOf('request_log_corrections', 'sign', within('created_at', whole)),
    ...[rowsBefore, rowsAfter]
      .filter(({ start, end }) => start < end)
      .flatMap((edge) => {
        const tables = ['request_logs'];
        if (edgeRows) tables.push(archivedRowsSql(parameter(edgeRows, 'text')));
        return tables.map((table) => rowsOf(table, '1', within('created_at', edge)));
      }),
  ];
  const offset = parameter(page.offset, 'bigint');
  const limit = parameter(page.limit, 'bigint');
  const { rows } = await client.query<LocationRow>(
    `WITH hours AS MATERIALIZED (
       SELECT hour, sum(requests) AS requests, min(first) AS first, max(last) AS last
       FROM (${parts.join(' UNION ALL ')}) AS part
       GROUP BY hour HAVING sum(requests) > 0
     ), ranked AS (
       SELECT *, sum(requests) OVER (ORDER BY hour DESC) - requests AS before FROM hours
     ), located AS (
       SELECT ${instantSql('first')} AS first, ${instantSql('last')} AS last, before::bigint AS before FROM ranked
       WHERE before < ${offset} + ${limit} AND before + requests > ${offset}
     )
     SELECT total, first, last, before
     FROM (SELECT coalesce(sum(requests), 0)::bigint AS total FROM hours) AS counted
       LEFT JOIN located ON true
     ORDER BY before`,
    parameters,
  );
  const spans = rows.flatMap(({ first, last }) => (first && last ? [{ first, last }] : []));
  return { total: rows[0]!.total, spans, skip: page.offset - (rows[0]?.before ?? page.offset) };
}
