import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import pLimit from 'p-limit';
import { Database } from '../../../platform/database/database.js';
import { DAY_MS, HOUR_MS } from '../../../platform/time/dates.js';
import { toInstant } from './archive/archive-format.js';
import { archiveReading, toBounds } from './archive/archived-edges.js';
import { mergeArchived } from './archive/merge-archived.js';
import { RequestLogArchive } from './archive/request-log-archive.js';
import {
  conditionsOf,
  lastInstant,
  type LogPlace,
  olderThan,
  placeBefore,
} from './log-dimensions.js';
import { type Facet, facetOf, isOfFacet } from './log-facets.js';
import { valueIdOf } from './series-statements.js';
import { readSnapshot, type RequestLogFilters } from './request-log-filters.js';
import { type Span, toSpan } from './split-span.js';
import {
  TENANT_ROW_COLUMNS,
  type StoredTenantRow,
  type TenantLogRow,
  withTextRead,
} from './stored-row.js';

export interface TenantLogFilters extends RequestLogFilters {
  readonly tenantId?: string | undefined;
}

interface Period {
  tenant_id: string;
  period: Date;
  /** Rows that are sure to be there. */
  requests: number;
  /** Rows that may have to be looked at. */
  candidates: number;
}

/** The newest periods that are looked at, and where older ones begin to be left for the next page. */
interface Found {
  readonly periods: readonly Period[];
  readonly floor: Date | undefined;
}

/** A page of a list. */
interface OverTenantsPage {
  rows: TenantLogRow[];
  /** What the next page comes behind; undefined on the last one. */
  next: LogPlace | undefined;
}

/** Of the pool's ten connections. */
const MAX_CONNECTIONS = 1;
/** Of whoever follows the log, which takes no time. */
const MAX_TAIL_CONNECTIONS = 2;
/** Ids before the last roll-up that are looked at for what is new. */
const MAX_NEWER_IDS = 100_000;

/**
 * Lists the request logs of all tenants, newest first. There is no index over all of them: the series of
 * requests say in which days, and which hours of which tenants, what is asked for lies, be it archived or not.
 * Where the series do not know what is asked for, or it is rare, a page may have fewer rows than there are: so
 * many rows are looked at, and `next` says where it goes on.
 */
@Injectable()
export class RequestLogOverTenantsReader {
  private readonly limit = pLimit(MAX_CONNECTIONS);
  private readonly tailLimit = pLimit(MAX_TAIL_CONNECTIONS);

  /** Rows that are looked at for a page, and those of an hour more. */
  walkedRows = 200_000;

  constructor(
    readonly database: Database,
    readonly archive: RequestLogArchive,
  ) {}

  /** @param after the `next` of the page before. @throws ArchiveUnavailableError */
  async page(
    filters: TenantLogFilters,
    after: LogPlace | undefined,
    limit: number,
  ): Promise<OverTenantsPage> {
    const found = await this.limit(() =>
      readSnapshot(this.database, async (client, progress) => {
        const { seriesId, sweptBefore, hasArchive, facetsFrom } = progress;
        const asked = toSpan(filters);
        const start = asked.start > sweptBefore ? asked.start : sweptBefore;
        const last = after ? lastInstant(after) : asked.end;
        const search = new Search(client, filters, limit + 1, this.walkedRows, facetsFrom);
        const days = await search.find('day', floor(start, DAY_MS), last);
        const oldest = days.periods.at(-1)?.period;
        const hours = oldest
          ? await search.find('hour', later(floor(start, HOUR_MS), oldest), last)
          : { periods: [], floor: undefined };
        const walked = await search.walk(hours);
        const from = walked.floor ?? days.floor;
        const span = { start: from ? later(start, from) : start, end: asked.end };
        const rows = await search.rows(walked.periods, seriesId, span, after);
        const spans = hasArchive ? hoursWithin(walked.periods, span) : [];
        const tenantIds = [...new Set(walked.periods.map(({ tenant_id: id }) => id))];
        const files =
          spans.length > 0 ? await this.archive.filesOf(client, tenantIds, outer(spans)) : [];
        return { rows, from, files, spans: spans.map(toBounds), tenantIds };
      }),
    );
    const { rows, from, files, ...place } = found;
    const merge = async (): Promise<TenantLogRow[]> => {
      const places = await this.archive.newest(files, {
        ...place,
        filters,
        ...(after && { after: { at: after.at, id: Number(after.id) } }),
        limit: limit + 1,
      });
      return mergeArchived(this, rows, places, { skip: 0, limit: limit + 1 });
    };
    const merged = await (files.length === 0 ? merge() : archiveReading(merge));
    const shown = merged.slice(0, limit);
    if (merged.length > limit) return { rows: shown, next: shown.at(-1) };
    return { rows: shown, next: from && placeBefore(toInstant(from)) };
  }

  /**
   * What was written after a row, the latest first; for whoever follows the log. Instances write at the same
   * time, so that a row may come to light a moment after one with a higher id.
   *
   * @param sinceId the row's id; no more than the last 100,000 ids are looked at, whoever's they are
   * @returns one row more than `limit` where there are more
   */
  newer(filters: TenantLogFilters, sinceId: string, limit: number): Promise<TenantLogRow[]> {
    return this.tailLimit(() =>
      readSnapshot(this.database, async (client, { seriesId, sweptBefore }) => {
        const first = Math.max(Number(sinceId), seriesId - MAX_NEWER_IDS);
        const { start, end, tenantId, ...others } = filters;
        const span = toSpan({ start, end });
        const values: unknown[] = [first, later(span.start, sweptBefore), span.end, limit + 1];
        const conditions = conditionsOf(others, (value) => `$${values.push(value)}`);
        if (tenantId !== undefined) conditions.push(`tenant_id = $${values.push(tenantId)}`);
        const where = ['id > $1::bigint', 'created_at >= $2', 'created_at < $3', ...conditions];
        const { rows } = await client.query<StoredTenantRow>(
          `SELECT ${TENANT_ROW_COLUMNS}
           FROM request_logs WHERE ${where.join(' AND ')}
           ORDER BY request_logs.id DESC LIMIT $4`,
          values,
        );
        return rows.map(withTextRead);
      }),
    );
  }
}

/** One search for rows, in one snapshot. */
class Search {
  constructor(
    private readonly client: PoolClient,
    private readonly filters: TenantLogFilters,
    private readonly wanted: number,
    private readonly walkedRows: number,
    private readonly facetsFrom: Date,
  ) {}

  /** The newest periods that together have what is wanted: all tenants of each, or all days' tenants as one. */
  async find(grain: 'day' | 'hour', first: Date, last: Date): Promise<Found> {
    const { endUser, tenantId } = this.filters;
    const values: unknown[] = [first, last];
    // What was charged only rows know.
    const { minCost, maxCost, ...filters } = this.rowFilters;
    const isSure = minCost === undefined && maxCost === undefined;
    const conditions = conditionsOf(filters, (value) => `$${values.push(value)}`);
    const kinds = `kind IN ('none', '${endUser === undefined ? 'any' : 'each'}')`;
    const ofTenant = tenantId === undefined ? '' : `AND part.tenant_id = $${values.push(tenantId)}`;
    const isLeft = conditions.length === 0 ? 'true' : conditions.join(' AND ');
    const tenant = grain === 'day' ? 'NULL' : 'part.tenant_id';
    const facet = first >= this.facetsFrom ? facetOf([], this.filters) : undefined;
    if (facet && isSure) return this.findFacet(facet, grain, first, last);
    // Of the rest it is not known; its rows are looked at, but not relied on.
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
      // Of the newest period some may lie behind its end, or before the page.
      if (time !== newest && isSure) sure += row.requests;
      if (sure >= this.wanted || candidates >= this.walkedRows) reached ??= time;
    }
    return { periods: found, floor: undefined };
  }

  /** The same where one thing is asked for, or nothing. */
  private async findFacet(
    facet: Facet,
    grain: 'day' | 'hour',
    first: Date,
    last: Date,
  ): Promise<Found> {
    const { tenantId } = this.filters;
    const values: unknown[] = [grain, first, last];
    const parameter = (value: string) => `$${values.push(value)}::text`;
    const ofTenant = tenantId === undefined ? '' : `AND tenant_id = $${values.push(tenantId)}`;
    const isAsked = isOfFacet(facet, parameter);
    // Whose value is not known is looked at, but not relied on.
    const unknown = parameter(facet.name.startsWith('tag:') ? 'tags' : facet.name);
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
    return this.newest(rows, true);
  }

  /** Of these hours the newest, by how many rows their tenants have in them. */
  async walk({ periods, floor }: Found): Promise<Found> {
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
        this.walkedRows,
      ],
    );
    const reached = rows[0]?.hour;
    if (!reached || reached <= periods.at(-1)!.period) return { periods, floor };
    return { periods: periods.filter(({ period }) => period >= reached), floor: reached };
  }

  /** The rows of these hours, and those that are in no series yet. */
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

/** Each hour once, newest first, as far as it is in the span. */
function hoursWithin(periods: readonly Period[], { start, end }: Span): Span[] {
  const hours = new Set(periods.map(({ period }) => period.getTime()));
  return [...hours]
    .map((hour) => ({
      start: later(new Date(hour), start),
      end: new Date(Math.min(hour + HOUR_MS, end.getTime())),
    }))
    .filter((hour) => hour.start < hour.end);
}

/** The span from the last of these hours to the first. */
function outer(hours: readonly Span[]): Span {
  return { start: hours.at(-1)!.start, end: hours[0]!.end };
}

function floor(date: Date, unitMs: number): Date {
  return new Date(Math.floor(date.getTime() / unitMs) * unitMs);
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
