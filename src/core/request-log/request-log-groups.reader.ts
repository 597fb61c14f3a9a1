import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { Database } from '../../platform/database/database.js';
import { DAY_MS, HOUR_MS } from '../../platform/time/dates.js';
import { type ArchivedSnapshot, archivedRowsSql, readWithEdges } from './archive/archived-edges.js';
import { RequestLogArchive } from './archive/request-log-archive.js';
import {
  conditionsOf,
  isUnknown,
  type LogDimension,
  type LogFilters,
  orderOf,
  shown,
} from './log-dimensions.js';
import { facetOf, facetSums, facetValueOf } from './log-facets.js';
import { readSnapshot } from './request-log-filters.js';
import {
  NO_SUMS,
  sumsOf,
  refundsSql,
  SERIES_COLUMNS,
  SERIES_SUMS,
  signedSumsOf,
  SUM_OF_ROWS,
  SUM_OF_SUMS,
} from './series-statements.js';
import { coverSpan, splitSpan, toSpan, withinSpan, type Span } from './split-span.js';

/** Totals of requests; money in credits, times in ms. */
export interface LogSums {
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  /** Credits charged. */
  cost: number;
  /** Credits that could not be charged because the balance was insufficient. */
  shortfall: number;
  /** Vendor usage at the routes' prices. */
  vendorCost: number;
  /** Sum over all requests. */
  latencyMs: number;
  /** Credits refunded since, if requested. */
  refunded?: number;
}

/** Requests with the same values in all dimensions. */
export interface LogGroup extends LogSums {
  /** In the order of the dimensions; null for a missing value, such as a tag. */
  values: (string | null)[];
  /** Collects values that were too many to keep apart. */
  isRest: boolean;
}

export interface LogGroupQuery {
  /** Undefined for all tenants, in whole hours. */
  readonly tenantId: string | undefined;
  /** One or two. */
  readonly dimensions: readonly LogDimension[];
  readonly filters: Omit<LogFilters, 'minCost' | 'maxCost'>;
  readonly range: { readonly start?: Date | undefined; readonly end?: Date | undefined };
  readonly limit: number;
  readonly withRefunds?: boolean;
}

/** The requested groups, and the totals of all groups. */
export interface LogGroups {
  groups: LogGroup[];
  /** Number of all groups. */
  count: number;
  total: LogSums;
}

interface GroupRow {
  first: string | null;
  second: string | null;
  is_rest: boolean;
  sums: number[];
  totals: number[];
  count: number;
}

/** Longer ranges read months as sums of series. */
const FACET_DAYS = 100;
/** Share of the pool's ten connections. */
const MAX_CONNECTIONS = 2;

/**
 * Aggregates the request log by one or two dimensions, with any filters. Reads the series of
 * requests (docs/decisions/0054) plus rows not in them yet.
 */
@Injectable()
export class RequestLogGroupsReader {
  readonly limit = pLimit(MAX_CONNECTIONS);

  constructor(
    readonly database: Database,
    readonly archive: RequestLogArchive,
  ) {}

  /**
   * Returns times in order, other dimensions by cost, highest first. Counts only whole hours of
   * days whose rows have been swept.
   */
  groups(query: LogGroupQuery): Promise<LogGroups> {
    const { tenantId, range } = query;
    if (tenantId !== undefined) {
      return readWithEdges(
        this,
        tenantId,
        () => toSpan(range),
        (snapshot) => addUp(snapshot, query),
      );
    }
    const span = toWholeHours(toSpan(range));
    return this.limit(() =>
      readSnapshot(this.database, (client, progress) =>
        addUp({ client, progress, span, files: [], edgeRows: undefined }, query),
      ),
    );
  }
}

async function addUp(snapshot: ArchivedSnapshot, query: LogGroupQuery): Promise<LogGroups> {
  const { client, progress, span, edgeRows } = snapshot;
  const { tenantId, dimensions, filters, limit } = query;
  const values: unknown[] = [];
  const parameter = (value: unknown, type = 'text') => `$${values.push(value)}::${type}`;
  const within = (column: string, span: Span) => withinSpan(column, span, parameter);
  const tenant = tenantId === undefined ? undefined : parameter(tenantId, 'uuid');
  const ofTenant = tenant === undefined ? [] : [`tenant_id = ${tenant}`];
  const conditions = conditionsOf(filters, parameter);

  const byEndUser =
    filters.endUser !== undefined || dimensions.some(({ name }) => name === 'end_user');
  const kinds = `kind IN ('none', '${byEndUser ? 'each' : 'any'}')`;
  const grains = dimensions.flatMap(({ grain }) => grain ?? []);
  const facet = facetOf(dimensions, filters);
  // Times are those of each part; other values are computed once per series.
  const valueOf = (index: number, time: string, known?: string): string => {
    const dimension = dimensions[index];
    if (!dimension) return 'NULL::text';
    return dimension.grain === undefined && known ? known : dimension.sql(time, parameter);
  };
  const columns = ['first', 'second'] as const;
  const valuesAt = (time: string, isSeries: boolean): string =>
    columns
      .map(
        (name, index) =>
          `${valueOf(index, time, isSeries ? `series.${name}` : undefined)} AS ${name}`,
      )
      .join(', ');

  const parts = splitSpan(span);
  const hasFacets = facet !== undefined && parts.whole.start >= progress.facetsFrom;
  const coarsest = grains.includes('hour') ? 'hour' : grains.includes('day') ? 'day' : 'month';
  const isLong = span.end.getTime() - span.start.getTime() > FACET_DAYS * DAY_MS;
  const sums = coverSpan(
    parts.whole,
    hasFacets && coarsest === 'month' && !isLong ? 'day' : coarsest,
    new Date(),
  ).flatMap((part) => {
    const { grain, sign } = part;
    if (grain === 'month') {
      return [
        `SELECT ${valuesAt('month', true)}, series.is_rest, ${signedSumsOf('series', sign)}
         FROM series WHERE ${within('month', part)}`,
      ];
    }
    const isWithin = [
      ...ofTenant.map((each) => `part.${each}`),
      `grain = '${grain}'`,
      within('period', part),
    ].join(' AND ');
    if (hasFacets) {
      const valuesOf = (value: string) =>
        columns
          .map((name, index) => `${facetValueOf(dimensions[index], value)} AS ${name}`)
          .join(', ');
      return facetSums(facet, parameter).map(
        ({ value, isRest, signs, condition }) =>
          `SELECT ${valuesOf(value)}, ${isRest}, ${signedSumsOf('part', sign, signs)}
           FROM request_log_facet_sums AS part WHERE ${isWithin} AND ${condition}`,
      );
    }
    return [
      `SELECT ${valuesAt('period', true)}, series.is_rest, ${signedSumsOf('part', sign)}
       FROM request_log_series_sums AS part JOIN series ON series.id = part.series
       WHERE part.${kinds} AND ${isWithin}`,
    ];
  });

  const where = (...more: string[]) => [...ofTenant, ...conditions, ...more, 'true'].join(' AND ');
  const rowsOf = (source: string, sign: string, condition: string) =>
    `SELECT ${sign} AS sign, ${SERIES_COLUMNS} FROM ${source} WHERE ${where(condition)}`;
  const rows = [
    rowsOf(
      'request_logs',
      '1',
      `id > ${parameter(progress.seriesId, 'bigint')} AND ${within('created_at', parts.whole)}`,
    ),
    rowsOf('request_log_series_corrections', 'sign', within('created_at', parts.whole)),
    ...[parts.rowsBefore, parts.rowsAfter]
      .filter(({ start, end }) => start < end && start >= progress.sweptBefore)
      .flatMap((edge) => {
        const tables = ['request_logs'];
        if (edgeRows) tables.push(archivedRowsSql(parameter(edgeRows)));
        return tables.map((table) => rowsOf(table, '1', within('created_at', edge)));
      }),
  ].join(' UNION ALL ');

  const refunds = query.withRefunds
    ? `UNION ALL
      SELECT ${valuesAt('created_at', false)}, is_rest AND (${isUnknown(dimensions, parameter)}), ${NO_SUMS}, refunded
      FROM (${refundsSql(parameter(span.start, 'timestamptz'))}) AS refund
      WHERE ${where(within('created_at', span))}`
    : '';

  const firstMonth = new Date(Date.UTC(span.start.getUTCFullYear(), span.start.getUTCMonth()));
  const statement = `
    WITH series AS MATERIALIZED (
      SELECT id, month, is_rest AND (${isUnknown(dimensions, parameter)}) AS is_rest, ${columns
        .map(
          (name, index) =>
            `${dimensions[index]?.grain ? 'NULL::text' : valueOf(index, 'month')} AS ${name}`,
        )
        .join(', ')}, ${SERIES_SUMS}
      FROM request_log_series
      WHERE ${where(kinds, within('month', { start: firstMonth, end: span.end }))}
    ), part AS (
      ${sums.map((each) => `${each} UNION ALL `).join('')}
      SELECT ${valuesAt('created_at', false)}, false AS is_rest, ${SUM_OF_ROWS}
      FROM (${rows}) AS row GROUP BY 1, 2
    ), whole AS (
      SELECT *, 0::bigint AS refunded FROM part ${refunds}
    ), grouped AS MATERIALIZED (
      SELECT first, second, is_rest, ${SUM_OF_SUMS}, sum(refunded)::bigint AS refunded
      FROM whole GROUP BY 1, 2, 3 HAVING sum(requests) > 0 OR sum(refunded) > 0
    ), total AS (
      SELECT count(*) AS count, ${SUM_OF_SUMS}, sum(refunded)::bigint AS refunded FROM grouped
    )
    SELECT ${shown(dimensions)}, is_rest, ARRAY[${sumsOf('grouped')}, grouped.refunded] AS sums,
      ARRAY[${sumsOf('total')}, total.refunded] AS totals, count
    FROM grouped CROSS JOIN total
    ORDER BY ${orderOf(dimensions)} LIMIT ${parameter(limit, 'bigint')}`;
  const { rows: found } = await client.query<GroupRow>(statement, values);
  return {
    groups: found.map((row) => ({
      values: [row.first, row.second].slice(0, dimensions.length).map((value, index) => {
        return value === null ? null : dimensions[index]!.read(value);
      }),
      isRest: row.is_rest,
      ...toSums(row.sums),
    })),
    count: found[0]?.count ?? 0,
    total: toSums(found[0]?.totals ?? []),
  };
}

function toSums(sums: readonly (number | string)[]): LogSums {
  const [requests, errors, promptTokens, completionTokens, cost, shortfall, ...more] =
    sums.map(Number);
  const [vendorCost, latencyMs, refunded] = more;
  return {
    requests: requests ?? 0,
    errors: errors ?? 0,
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    cost: cost ?? 0,
    shortfall: shortfall ?? 0,
    vendorCost: vendorCost ?? 0,
    latencyMs: latencyMs ?? 0,
    refunded: refunded ?? 0,
  };
}

/** Extends the span to whole hours, to avoid reading rows of all tenants. */
function toWholeHours({ start, end }: Span): Span {
  return {
    start: new Date(Math.floor(start.getTime() / HOUR_MS) * HOUR_MS),
    end: new Date(Math.ceil(end.getTime() / HOUR_MS) * HOUR_MS),
  };
}
