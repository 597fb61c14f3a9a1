import type { PoolClient } from 'pg';
import { DAY_MS, HOUR_MS } from '../../platform/time/dates.js';
import { findFewSeries } from './few-series.js';
import { conditionsOf, type LogPlace, olderThan, TAG } from './log-dimensions.js';
import { type Facet, facetOf, isOfFacet, rarestOf } from './log-facets.js';
import type { RequestLogFilters, TenantLogFilters } from './request-log-filters.js';
import { valueIdOf } from './series-statements.js';
import type { Span } from './split-span.js';
import { type StoredTenantRow, TENANT_ROW_COLUMNS } from './stored-row.js';

interface Period {
  tenant_id: string;
  period: Date;
  /** Rows that certainly match. */
  requests: number;
  /** Rows that may match and must be scanned. */
  candidates: number;
}

/** The newest periods to read, and where older ones are left for the next page. */
interface Found {
  readonly periods: readonly Period[];
  readonly floor: Date | undefined;
}

/** Searches rows of all tenants within one snapshot: first the hours, then their rows. */
export class LogSearch {
  constructor(
    private readonly client: PoolClient,
    private readonly filters: TenantLogFilters,
    private readonly wanted: number,
    private readonly bounds: { readonly walkedRows: number; readonly fewRequests: number },
    private readonly facetsFrom: Date,
  ) {}

  /**
   * Returns the newest hours of tenants that together hold enough rows, or the most that a page may
   * scan.
   */
  async hours(span: { start: Date; end: Date }): Promise<Found> {
    const firstDay = floor(span.start, DAY_MS);
    const { minCost, maxCost, ...filters } = this.rowFilters;
    // Only rows know the charge.
    const isAll = minCost === undefined && maxCost === undefined;
    const facet = facetOf([], filters);
    if (!facet) {
      const { fewRequests } = this.bounds;
      const few = await findFewSeries(
        this.client,
        this.filters.tenantId,
        filters,
        span,
        fewRequests,
      );
      if (few) return this.walk(this.newest(await this.hoursOf(few, span), isAll));
    }
    const driving = firstDay >= this.facetsFrom ? (facet ?? rarestOf(filters)) : undefined;
    const isSure = isAll && facet !== undefined;
    const find = (grain: 'day' | 'hour', first: Date) =>
      driving
        ? this.findFacet(driving, isSure, grain, first, span.end)
        : this.findSeries(grain, first, span.end);
    const days = await find('day', firstDay);
    const oldest = days.periods.at(-1)?.period;
    if (!oldest) return days;
    const walked = await this.walk(await find('hour', later(floor(span.start, HOUR_MS), oldest)));
    return { ...walked, floor: walked.floor ?? days.floor };
  }

  private async hoursOf(series: readonly string[], { start, end }: { start: Date; end: Date }) {
    const { rows } = await this.client.query<Period>(
      `SELECT tenant_id, period, sum(requests)::bigint AS requests, sum(requests)::bigint AS candidates
       FROM request_log_series_sums
       WHERE series = ANY ($1) AND grain = 'hour' AND period >= $2 AND period <= $3
       GROUP BY 1, 2 ORDER BY 2 DESC`,
      [series, floor(start, HOUR_MS), end],
    );
    return rows;
  }

  /**
   * Returns the newest periods that together hold enough rows: per tenant, or per day for all
   * tenants.
   */
  private async findSeries(grain: 'day' | 'hour', first: Date, last: Date): Promise<Found> {
    const { endUser, tenantId } = this.filters;
    const values: unknown[] = [first, last];
    // Only rows know the charge.
    const { minCost, maxCost, ...filters } = this.rowFilters;
    const isSure = minCost === undefined && maxCost === undefined;
    const conditions = conditionsOf(filters, (value) => `$${values.push(value)}`);
    const kinds = `kind IN ('none', '${endUser === undefined ? 'any' : 'each'}')`;
    const ofTenant = tenantId === undefined ? '' : `AND part.tenant_id = $${values.push(tenantId)}`;
    const isLeft = conditions.length === 0 ? 'true' : conditions.join(' AND ');
    const tenant = grain === 'day' ? 'NULL' : 'part.tenant_id';
    // Rest series are scanned, but do not count as matches.
    const { rows } = await this.client.query<Period>(
      `SELECT ${tenant} AS tenant_id, period,
         coalesce(sum(part.requests) FILTER (WHERE ${isLeft}), 0)::bigint AS requests,
         sum(part.requests)::bigint AS candidates
       FROM request_log_series_sums AS part
         ${
           conditions.length === 0
             ? ''
             : `JOIN (
           SELECT id, api_key_id, endpoint, model, provider, status, tags, end_user, is_rest
           FROM request_log_series WHERE ${kinds}
         ) AS series ON series.id = part.series AND ((${isLeft}) OR is_rest)`
         }
       WHERE part.${kinds} AND grain = '${grain}' AND period >= $1 AND period <= $2 ${ofTenant}
       GROUP BY 1, 2 ORDER BY 2 DESC`,
      values,
    );
    return this.newest(rows, isSure);
  }

  private newest(rows: readonly Period[], isSure: boolean): Found {
    const newest = rows[0]?.period.getTime();
    let sure = 0;
    let candidates = 0;
    let reached: number | undefined;
    const found: Period[] = [];
    for (const row of rows) {
      const time = row.period.getTime();
      if (reached !== undefined && time < reached) {
        return { periods: found, floor: sure >= this.wanted ? undefined : new Date(reached) };
      }
      found.push(row);
      candidates += row.candidates;
      // In the newest period some rows may lie after the span, or before the page.
      if (time !== newest && isSure) sure += row.requests;
      if (sure >= this.wanted || candidates >= this.bounds.walkedRows) reached ??= time;
    }
    return { periods: found, floor: undefined };
  }

  /**
   * Does the same by a facet's value.
   *
   * @param isSure whether there are no other filters
   */
  private async findFacet(
    facet: Facet,
    isSure: boolean,
    grain: 'day' | 'hour',
    first: Date,
    last: Date,
  ): Promise<Found> {
    const { tenantId } = this.filters;
    const values: unknown[] = [grain, first, last];
    const parameter = (value: string) => `$${values.push(value)}::text`;
    const ofTenant = tenantId === undefined ? '' : `AND tenant_id = $${values.push(tenantId)}`;
    const isAsked = isOfFacet(facet, parameter);
    // Rows with unknown values are scanned, but do not count as matches.
    const unknown = parameter(facet.name.startsWith(TAG) ? 'tags' : facet.name);
    const sumsOf = (isAsked: string) => `
      SELECT tenant_id, period, requests, is_rest FROM request_log_facet_sums
      WHERE grain = $1 AND period >= $2 AND period <= $3 ${ofTenant} AND ${isAsked}`;
    const { rows } = await this.client.query<Period>(
      `SELECT ${grain === 'day' ? 'NULL' : 'tenant_id'} AS tenant_id, period,
         coalesce(sum(requests) FILTER (WHERE NOT is_rest), 0)::bigint AS requests,
         sum(requests)::bigint AS candidates
       FROM (${sumsOf(isAsked)} UNION ALL
         ${sumsOf(`facet = ${unknown} AND value_id = ${valueIdOf('NULL::text', 'true')}`)}) AS part
       GROUP BY 1, 2 ORDER BY 2 DESC`,
      values,
    );
    return this.newest(rows, isSure);
  }

  /** Returns the newest of these hours, limited by the rows of their tenants. */
  private async walk({ periods, floor }: Found): Promise<Found> {
    if (periods.length === 0) return { periods, floor };
    const { rows } = await this.client.query<{ hour: Date }>(
      `SELECT hour FROM (
         SELECT hour, sum(sum(requests)) OVER (ORDER BY hour DESC) AS newer
         FROM unnest($1::uuid[], $2::timestamptz[]) AS place (tenant_id, hour)
           JOIN request_log_roll_ups AS part
             ON part.tenant_id = place.tenant_id AND dimension = 'all' AND grain = 'hour' AND period = hour
         GROUP BY hour
       ) AS hours WHERE newer >= $3 ORDER BY hour DESC LIMIT 1`,
      [
        periods.map(({ tenant_id: id }) => id),
        periods.map(({ period }) => period),
        this.bounds.walkedRows,
      ],
    );
    const reached = rows[0]?.hour;
    if (!reached || reached <= periods.at(-1)!.period) return { periods, floor };
    return { periods: periods.filter(({ period }) => period >= reached), floor: reached };
  }

  /** Returns the rows of these hours, and those that are in no series yet. */
  async rows(
    hours: readonly Period[],
    seriesId: number,
    { start, end }: { start: Date; end: Date },
    after: LogPlace | undefined,
  ): Promise<StoredTenantRow[]> {
    const values: unknown[] = [
      hours.map(({ tenant_id: id }) => id),
      hours.map(({ period }) => period),
      seriesId,
      start,
      end,
      this.wanted,
    ];
    const conditions = conditionsOf(this.rowFilters, (value) => `$${values.push(value)}`);
    const { tenantId } = this.filters;
    if (tenantId !== undefined) conditions.push(`tenant_id = $${values.push(tenantId)}`);
    if (after) conditions.push(olderThan(after, (value) => `$${values.push(value)}`));
    const where = ['created_at >= $4', 'created_at < $5', ...conditions].join(' AND ');
    const newest = 'ORDER BY created_at DESC, id DESC LIMIT $6';
    const { rows } = await this.client.query<StoredTenantRow>(
      `WITH found AS (
         SELECT log.* FROM unnest($1::uuid[], $2::timestamptz[]) AS place (tenant_id, hour)
           CROSS JOIN LATERAL (
             SELECT * FROM request_logs
             WHERE request_logs.tenant_id = place.tenant_id AND created_at >= place.hour
               AND created_at < place.hour + interval '1 hour' AND id <= $3::bigint AND ${where}
             ${newest}
           ) AS log
         UNION ALL
         (SELECT * FROM request_logs WHERE id > $3::bigint AND ${where} ${newest})
       )
       SELECT ${TENANT_ROW_COLUMNS}
       FROM found AS request_logs
       ORDER BY created_at DESC, request_logs.id DESC LIMIT $6`,
      values,
    );
    return rows;
  }

  private get rowFilters(): RequestLogFilters {
    const { tenantId: _, start: __, end: ___, ...filters } = this.filters;
    return filters;
  }
}

/** Returns each hour once, newest first, within the span. */
export function hoursWithin(periods: readonly Period[], { start, end }: Span): Span[] {
  const hours = new Set(periods.map(({ period }) => period.getTime()));
  return [...hours]
    .map((hour) => ({
      start: later(new Date(hour), start),
      end: new Date(Math.min(hour + HOUR_MS, end.getTime())),
    }))
    .filter((hour) => hour.start < hour.end);
}

/** Returns the span from the oldest of these hours to the newest. */
export function outer(hours: readonly Span[]): Span {
  return { start: hours.at(-1)!.start, end: hours[0]!.end };
}

function floor(date: Date, unitMs: number): Date {
  return new Date(Math.floor(date.getTime() / unitMs) * unitMs);
}

export function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
