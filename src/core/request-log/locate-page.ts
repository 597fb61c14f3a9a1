import type { PoolClient } from 'pg';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { type ArchivedSnapshot, archivedRowsSql } from './archive/archived-edges.js';
import { instantSql } from './archive/archive-format.js';
import { conditionOf, type RequestLogFilters } from './request-log-filters.js';
import { type LogPlace, olderThan } from './log-dimensions.js';
import { findFewSeries } from './few-series.js';
import { facetOf, isOfFacet } from './log-facets.js';
import { splitSpan, withinSpan, type Span } from './split-span.js';

/** Part of a list: at most `limit` rows after the first `offset`, counted from `after`. */
export interface Page {
  limit: number;
  offset: number;
  after?: LogPlace | undefined;
}

/** Where in time the rows of a page lie. */
export interface PageLocation {
  /** Matching rows from `start` on this page and later ones. */
  total: number;
  /** How far back rows were counted: the start of the span, unless no sum covers the filters. */
  start: Date;
  /** Spans with inclusive bounds, newest first; their matching rows form part of the list. */
  spans: { first: string; last: string }[];
  /** Matching rows to skip in the newest span. */
  skip: number;
}

interface LocationRow {
  total: number;
  first: string | null;
  last: string | null;
  before: number | null;
}

/**
 * Finds the hours that hold a page, and counts the rows from there. When no sum covers the filters,
 * scans a limited number of rows, so the page may be incomplete.
 *
 * @param walks numbers of rows to scan; each is tried when the one before finds too few
 */
export async function locatePage(
  snapshot: ArchivedSnapshot,
  tenantId: string,
  filters: RequestLogFilters,
  page: Page,
  { walks, fewRequests }: { walks: readonly number[]; fewRequests: number },
): Promise<PageLocation> {
  const { client, span, files } = snapshot;
  let source = await sourceFor(snapshot, tenantId, filters);
  let series: string[] | undefined;
  if (source === 'series' && page.offset === 0) {
    series = await findFewSeries(client, tenantId, filters, span, fewRequests);
    // Looking up hours of many series is slow, and scanning rows fills the page soon. The archive
    // has none.
    if (!series && files.length === 0) source = 'rows';
  }
  if (source !== 'rows') return locateBy(source, snapshot, tenantId, filters, page, series);
  if (files.length > 0) {
    throw new InvalidRequestError(
      'start_date',
      'Requests of that time are archived and cannot be filtered this way. Query more recent ones, or remove min_cost, max_cost, tag and end_user.',
    );
  }
  for (const [turn, rows] of walks.entries()) {
    const start = await startOfNewest(client, tenantId, span, rows);
    const walked = { ...snapshot, span: { ...span, start } };
    const place = await locateBy('rows', walked, tenantId, filters, page);
    const isFull = place.total > page.offset + page.limit;
    if (isFull || start <= span.start || turn === walks.length - 1) return place;
  }
  throw new Error('No walk configured.');
}

/** Returns the first hour, or the span's start, from which a tenant has at least that many rows. */
async function startOfNewest(
  client: PoolClient,
  tenantId: string,
  { start, end }: Span,
  rows: number,
): Promise<Date> {
  const { rows: found } = await client.query<{ hour: Date }>(
    `SELECT hour FROM (
       SELECT hour, sum(sum(requests)) OVER (ORDER BY hour DESC) AS newer FROM request_log_counts
       WHERE tenant_id = $1 AND hour > $2 AND hour < $3 GROUP BY hour
     ) AS hours WHERE newer >= $4 ORDER BY hour DESC LIMIT 1`,
    [tenantId, start, end, rows],
  );
  return found[0]?.hour ?? start;
}

type CountSource = 'facets' | 'counts' | 'series' | 'rows';

/**
 * Counts the rows of a list and finds the hours that hold a page of it, without scanning other
 * hours: whole hours are counted by sums plus rows not summed yet, partial hours at the ends by
 * their rows.
 *
 * @param few the matching series, if they are few
 */
async function locateBy(
  source: CountSource,
  { client, progress, span, edgeRows }: ArchivedSnapshot,
  tenantId: string,
  filters: RequestLogFilters,
  page: Page,
  few?: readonly string[],
): Promise<PageLocation> {
  const { sql, values } = conditionOf(tenantId, filters);
  const parameters = [...values];
  const parameter = (value: unknown, type: string) => `$${parameters.push(value)}::${type}`;
  const within = (column: string, span: Span) => withinSpan(column, span, parameter);

  const { whole, rowsBefore, rowsAfter } = splitSpan(span);
  const rowsOf = (source: string, sign: string, condition: string) => `
      SELECT date_trunc('hour', created_at, 'UTC') AS hour, ${sign} AS requests,
        created_at AS first, created_at AS last
      FROM ${source} WHERE ${sql} AND ${condition}`;
  const after = (id: number) =>
    rowsOf(
      'request_logs',
      '1',
      `id > ${parameter(id, 'bigint')} AND ${within('created_at', whole)}`,
    );
  const kinds = `kind IN ('none', '${filters.endUser === undefined ? 'any' : 'each'}')`;
  const wholePeriod = `period, period + interval '1 hour' - interval '1 microsecond'`;
  const notInSeries = () => [
    after(progress.seriesId),
    rowsOf('request_log_series_corrections', 'sign', within('created_at', whole)),
  ];
  const facet = facetOf([], filters);
  const wholeHours = {
    facets: () => [
      `SELECT period, requests, ${wholePeriod} FROM request_log_facet_sums
        WHERE tenant_id = $1 AND grain = 'hour' AND ${within('period', whole)}
          AND ${facet ? isOfFacet(facet, (value) => parameter(value, 'text')) : 'false'}`,
      ...notInSeries(),
    ],
    counts: () => [
      `SELECT hour, requests, first_created_at AS first, last_created_at AS last
        FROM request_log_counts WHERE ${sql} AND ${within('hour', whole)}`,
      after(progress.rolledUpId),
      rowsOf('request_log_corrections', 'sign', within('created_at', whole)),
    ],
    series: () => [
      few
        ? `SELECT period, requests, ${wholePeriod} FROM request_log_series_sums
        WHERE series = ANY (${parameter(few, 'uuid[]')}) AND grain = 'hour' AND ${within('period', whole)}`
        : `SELECT period, part.requests, ${wholePeriod}
        FROM request_log_series_sums AS part
          JOIN (SELECT id FROM request_log_series WHERE ${sql} AND ${kinds}) AS series
            ON series.id = part.series
        WHERE part.tenant_id = $1 AND part.${kinds} AND grain = 'hour' AND ${within('period', whole)}`,
      ...notInSeries(),
    ],
    rows: () => [rowsOf('request_logs', '1', within('created_at', whole))],
  };
  const parts = [
    // Names the columns.
    'SELECT NULL::timestamptz AS hour, 0::bigint AS requests, NULL::timestamptz AS first, NULL::timestamptz AS last WHERE false',
    ...wholeHours[source](),
    ...[rowsBefore, rowsAfter]
      .filter(({ start, end }) => start < end)
      .flatMap((edge) => {
        const tables = ['request_logs'];
        if (edgeRows) tables.push(archivedRowsSql(parameter(edgeRows, 'text')));
        const older = page.after
          ? [olderThan(page.after, (value) => parameter(value, 'text'))]
          : [];
        const condition = [within('created_at', edge), ...older].join(' AND ');
        return tables.map((table) => rowsOf(table, '1', condition));
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
  const skip = page.offset - (rows[0]?.before ?? page.offset);
  return { total: rows[0]!.total, start: span.start, spans, skip };
}

/**
 * Picks the source for counting a list: facets for at most one filter; counts for status, model and
 * key; series for all filters, as long as the tenant has no rest series; else the rows.
 */
async function sourceFor(
  { client, progress, span }: ArchivedSnapshot,
  tenantId: string,
  filters: RequestLogFilters,
): Promise<CountSource> {
  const { provider, endpoint, endUser, tags, minCost, maxCost } = filters;
  const isAsked = (...values: unknown[]) => values.some((value) => value !== undefined);
  if (isAsked(minCost, maxCost)) return 'rows';
  if (isAsked(endUser, tags)) {
    const { rows } = await client.query<{ found: boolean }>(
      'SELECT EXISTS (SELECT FROM request_log_series WHERE tenant_id = $1 AND is_rest) AS found',
      [tenantId],
    );
    if (rows[0]!.found) return 'rows';
  }
  const hasFacets = splitSpan(span).whole.start >= progress.facetsFrom;
  if (hasFacets && facetOf([], filters)) return 'facets';
  return isAsked(provider, endpoint, endUser, tags) ? 'series' : 'counts';
}
