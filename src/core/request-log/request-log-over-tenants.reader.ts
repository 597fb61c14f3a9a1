import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { Database } from '../../platform/database/database.js';
import { toInstant } from './archive/archive-format.js';
import { archiveReading, toBounds } from './archive/archived-edges.js';
import { mergeArchived } from './archive/merge-archived.js';
import { RequestLogArchive } from './archive/request-log-archive.js';
import { FEW_REQUESTS } from './few-series.js';
import { conditionsOf, lastInstant, type LogPlace, placeBefore } from './log-dimensions.js';
import { hoursWithin, later, LogSearch, outer } from './log-search.js';
import { readSnapshot, type TenantLogFilters } from './request-log-filters.js';
import { toSpan } from './split-span.js';
import {
  TENANT_ROW_COLUMNS,
  type StoredTenantRow,
  type TenantLogRow,
  withTextRead,
} from './stored-row.js';

interface OverTenantsPage {
  rows: TenantLogRow[];
  /** Position of the next page; undefined on the last one. */
  next: LogPlace | undefined;
}

/** Share of the pool's ten connections. */
const MAX_CONNECTIONS = 1;
/** For clients that follow the log, whose queries are fast. */
const MAX_TAIL_CONNECTIONS = 2;
/** Ids before the last roll-up in which to look for new rows. */
const MAX_NEWER_IDS = 100_000;

/**
 * Lists the request logs of all tenants, newest first. No index covers all of them: the series of
 * requests tell in which days, and in which hours of which tenants, matches lie, archived or not.
 * When the series do not cover the filters, or matches are rare, a page may be incomplete: it scans
 * a limited number of rows, and `next` tells where to continue.
 */
@Injectable()
export class RequestLogOverTenantsReader {
  private readonly limit = pLimit(MAX_CONNECTIONS);
  private readonly tailLimit = pLimit(MAX_TAIL_CONNECTIONS);

  /** Rows to scan for a page, plus those of one hour. */
  walkedRows = 30_000;
  fewRequests = FEW_REQUESTS;

  constructor(
    readonly database: Database,
    readonly archive: RequestLogArchive,
  ) {}

  /**
   * @param after the `next` of the previous page
   * @throws ArchiveUnavailableError
   */
  async page(
    filters: TenantLogFilters,
    after: LogPlace | undefined,
    limit: number,
  ): Promise<OverTenantsPage> {
    const found = await this.limit(() =>
      readSnapshot(this.database, async (client, progress) => {
        const { seriesId, sweptBefore, hasArchive, facetsFrom } = progress;
        const asked = toSpan(filters);
        const start = later(asked.start, sweptBefore);
        const last = after ? lastInstant(after) : asked.end;
        const search = new LogSearch(client, filters, limit + 1, this, facetsFrom);
        const walked = await search.hours({ start, end: last });
        const from = walked.floor;
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
   * Returns rows written after a row, latest first, for clients that follow the log. Instances
   * write concurrently, so a row may appear shortly after one with a higher id.
   *
   * @param sinceId the row's id; only the last 100,000 ids of all tenants are searched
   * @returns one row more than `limit` if there are more
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
