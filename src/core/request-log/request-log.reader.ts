import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import pLimit from 'p-limit';
import { Database } from '../../platform/database/database.js';
import { readWithEdges, toBounds } from './archive/archived-edges.js';
import { toInstant } from './archive/archive-format.js';
import { mergeArchived, readArchived } from './archive/merge-archived.js';
import { boundsOf, overlap, RequestLogArchive } from './archive/request-log-archive.js';
import { conditionOf, type RequestLogFilters, readSnapshot } from './request-log-filters.js';
import {
  ROW_COLUMNS,
  TENANT_ROW_COLUMNS,
  type StoredRow,
  type StoredTenantRow,
  type TenantLogRow,
  withTextRead,
} from './stored-row.js';
import { lastInstant, type LogPlace, olderThan, placeBefore } from './log-dimensions.js';
import type { RequestLogRow } from './request-log-row.js';
import { toSpan, type Span } from './split-span.js';
import { FEW_REQUESTS } from './few-series.js';
import { later } from './log-search.js';
import { locatePage, type Page, type PageLocation } from './locate-page.js';

interface RequestLogPage {
  rows: RequestLogRow[];
  /** Length of the list as far as it was searched, from `after` if given. */
  total: number;
  /** True when nothing lies beyond the searched part. */
  isTotalExact: boolean;
  /** Position of the next page; undefined on the last one. */
  next: LogPlace | undefined;
}

/** Share of the pool's ten connections. Listing slows down with the number of a tenant's rows. */
const MAX_CONNECTIONS = 3;

/** Reads the request log of one tenant per call. The ledger writes it. */
@Injectable()
export class RequestLogReader {
  readonly limit = pLimit(MAX_CONNECTIONS);
  /**
   * Rows to scan when no sum covers the filters; the second number applies when the first finds too
   * few.
   */
  walks = [5_000, 25_000];
  fewRequests = FEW_REQUESTS;

  constructor(
    readonly database: Database,
    readonly archive: RequestLogArchive,
  ) {}

  /**
   * Returns rows newest first. Equally fast for late pages and for logs of millions of rows: when
   * no sum covers the filters, a page may be incomplete, and `next` tells where to continue.
   */
  async pageOfTenant(
    tenantId: string,
    filters: RequestLogFilters,
    page: Page,
  ): Promise<RequestLogPage> {
    const asked = toSpan(filters);
    const { after } = page;
    const ended = after && new Date(lastInstant(after).getTime() + 1);
    const isCut = ended !== undefined && ended <= asked.end && after?.id !== '0';
    const end = ended && ended < asked.end ? ended : asked.end;
    const read = await readWithEdges(
      this,
      tenantId,
      ({ sweptBefore }) => ({
        ...toSpan({ start: later(asked.start, sweptBefore), end }),
        isCut,
      }),
      async (snapshot) => {
        const place = await locatePage(snapshot, tenantId, filters, page, this);
        const files = snapshot.files.filter((file) =>
          place.spans.some((span) => overlap(span, boundsOf(file))),
        );
        // Rows before the page may be in the database or the archive.
        const limit = files.length === 0 ? page.limit : place.skip + page.limit;
        const skip = files.length === 0 ? place.skip : 0;
        const { client, span } = snapshot;
        const window = { ...page, limit };
        const rows = await readPage(client, tenantId, filters, span, { ...place, skip }, window);
        return { place, files, rows, span };
      },
    );
    const { place, files, rows, span } = read;
    const whole = toBounds(span);
    const limit = place.skip + page.limit;
    const places = await this.archive.newest(files, {
      tenantIds: [tenantId],
      filters,
      spans: place.spans.map(({ first, last }) => ({
        first: first > whole.first ? first : whole.first,
        last: last < whole.last ? last : whole.last,
      })),
      ...(after && { after: { at: after.at, id: Number(after.id) } }),
      limit,
    });
    const skip = files.length === 0 ? 0 : place.skip;
    const merged = await mergeArchived(this, rows, places, { skip, limit: page.limit });
    const isTotalExact = place.start <= span.start;
    const last = page.offset + merged.length < place.total ? merged.at(-1) : undefined;
    return {
      rows: merged.map(withoutPlace),
      total: place.total,
      isTotalExact,
      next: last ?? (isTotalExact ? undefined : placeBefore(toInstant(place.start))),
    };
  }

  /**
   * @param requestId a UUID
   */
  async findByRequestId(tenantId: string, requestId: string): Promise<RequestLogRow | undefined> {
    const { rows } = await this.database.query<StoredRow>(
      `SELECT ${ROW_COLUMNS} FROM request_logs WHERE tenant_id = $1 AND request_id = $2
         AND created_at >= (SELECT swept_before FROM request_log_progress)`,
      [tenantId, requestId],
    );
    if (rows[0]) return withTextRead(rows[0]);
    const archived = await this.archive.find(this.database, tenantId, requestId);
    return archived && (await readArchived(this.database, [archived])).map(withoutPlace)[0];
  }

  /**
   * Yields all matching rows newest first, in batches of `batchSize`. Holds no connection between
   * batches, however slow the reader.
   */
  async *batchesOfTenant(
    tenantId: string,
    { start: asked, end: before, ...filters }: RequestLogFilters,
    batchSize: number,
  ): AsyncGenerator<RequestLogRow[]> {
    const { start, end } = toSpan({ start: asked, end: before });
    const { sql, values } = conditionOf(tenantId, filters);
    const next = values.length + 1;
    // Times as text, since a Date would cut the microseconds that order depends on.
    let after = { at: toInstant(end), id: 0 };
    for (;;) {
      const { rows, files, first } = await this.limit(() =>
        readSnapshot(this.database, async (client, { sweptBefore, hasArchive }) => {
          const from = later(start, sweptBefore);
          const { rows } = await client.query<StoredTenantRow>(
            `SELECT ${TENANT_ROW_COLUMNS} FROM request_logs
            WHERE ${sql} AND (created_at, id) < ($${next}::timestamptz, $${next + 1}::bigint)
              AND created_at >= $${next + 2}
            ORDER BY created_at DESC, request_logs.id DESC
            LIMIT $${next + 3}`,
            [...values, after.at, after.id, from, batchSize],
          );
          // A full batch contains nothing older than its last row.
          const last = rows.length < batchSize ? undefined : rows.at(-1);
          const first = last?.at ?? toInstant(from);
          const span = { start: new Date(first), end: new Date(Date.parse(after.at) + 1) };
          const files = hasArchive ? await this.archive.filesOf(client, [tenantId], span) : [];
          return { rows, files, first };
        }),
      );
      const places = await this.archive.newest(files, {
        tenantIds: [tenantId],
        filters,
        spans: [{ first, last: after.at }],
        after,
        limit: batchSize,
      });
      const batch = await mergeArchived(this, rows, places, { skip: 0, limit: batchSize });
      const last = batch.at(-1);
      if (!last) return;
      after = { at: last.at, id: Number(last.id) };
      yield batch.map(withoutPlace);
      if (batch.length < batchSize) return;
    }
  }
}

function withoutPlace({ at: _, tenantId: __, ...row }: TenantLogRow): RequestLogRow {
  return row;
}

/** Reads each span in index order, and no further than the page needs. */
async function readPage(
  client: PoolClient,
  tenantId: string,
  filters: RequestLogFilters,
  { start, end }: Span,
  { spans, skip }: Pick<PageLocation, 'spans' | 'skip'>,
  { limit, after }: Page,
): Promise<StoredTenantRow[]> {
  if (spans.length === 0) return [];
  const { sql: isLeft, values } = conditionOf(tenantId, filters);
  const older = after && olderThan(after, (value) => `$${values.push(value)}`);
  const sql = older ? `${isLeft} AND ${older}` : isLeft;
  const next = values.length + 1;
  const { rows } = await client.query<StoredTenantRow>(
    `SELECT ${TENANT_ROW_COLUMNS}
       FROM unnest($${next}::timestamptz[], $${next + 1}::timestamptz[]) AS span (first, last)
         CROSS JOIN LATERAL (
           SELECT * FROM request_logs
           WHERE ${sql} AND created_at BETWEEN span.first AND span.last
             AND created_at >= $${next + 2} AND created_at < $${next + 3}
           ORDER BY created_at DESC, id DESC LIMIT $${next + 4}
         ) AS request_logs
      ORDER BY created_at DESC, request_logs.id DESC LIMIT $${next + 5} OFFSET $${next + 6}`,
    [
      ...values,
      spans.map(({ first }) => first),
      spans.map(({ last }) => last),
      start,
      end,
      skip + limit,
      limit,
      skip,
    ],
  );
  return rows;
}
