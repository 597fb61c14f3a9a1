import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/database/database.js';
import { Turnstile } from '../../../platform/database/turnstile.js';
import { locatePage, type Page, type PageLocation } from './locate-page.js';
import { ROW_COLUMNS, withTextRead } from './request-log-columns.js';
import { conditionOf, type RequestLogFilters } from './request-log-filters.js';
import type { RequestLogRow } from './request-log-row.js';
import { readSnapshot } from './request-log-snapshot.js';
import { toSpan, type Span } from './split-span.js';

/** A page of a list, and how long the whole list is. */
export interface RequestLogPage {
  rows: RequestLogRow[];
  total: number;
}

/** Of the pool's ten connections. Listing takes longer the more rows a tenant has. */
const MAX_CONNECTIONS = 3;

/** Reads the request log; every method is bound to one tenant. The ledger writes it. */
@Injectable()
export class RequestLogReader {
  private readonly turnstile = new Turnstile(MAX_CONNECTIONS);

  constructor(private readonly database: Database) {}

  /** Newest first. Takes no longer for pages far behind, or for logs of millions of rows. */
  pageOfTenant(tenantId: string, filters: RequestLogFilters, page: Page): Promise<RequestLogPage> {
    return this.turnstile.run(() =>
      readSnapshot(this.database, async (client, progress) => {
        const asked = toSpan(filters);
        const span = toSpan({ start: laterOf(asked.start, progress.sweptBefore), end: asked.end });
        const place = await locatePage(client, progress, tenantId, filters, span, page);
        const rows = await readPage(client, tenantId, filters, span, place, page.limit);
        return { rows, total: place.total };
      }),
    );
  }

  /** @param requestId a UUID */
  async findByRequestId(tenantId: string, requestId: string): Promise<RequestLogRow | undefined> {
    const { rows } = await this.database.query<RequestLogRow>(
      `SELECT ${ROW_COLUMNS} FROM request_logs WHERE tenant_id = $1 AND request_id = $2`,
      [tenantId, requestId],
    );
    return rows.map(withTextRead)[0];
  }

  /**
   * All rows of a span, newest first, in batches of `batchSize`. No connection is taken between two
   * batches, however slowly they are asked for.
   */
  async *batchesOfTenant(
    tenantId: string,
    range: Pick<RequestLogFilters, 'start' | 'end'>,
    batchSize: number,
  ): AsyncGenerator<RequestLogRow[]> {
    const { start, end } = toSpan(range);
    // Times as text, because a Date would cut the microseconds that the order rests on.
    let after: { at: string; id: string } = { at: end.toISOString(), id: '0' };
    for (;;) {
      const { rows } = await this.turnstile.run(() =>
        this.database.query<RequestLogRow & { at: string }>(
          `SELECT ${ROW_COLUMNS}, created_at::text AS at FROM request_logs
            WHERE tenant_id = $1 AND (created_at, id) < ($2::timestamptz, $3::bigint)
              AND created_at >= greatest(
                $4::timestamptz, (SELECT swept_before FROM request_log_progress))
            ORDER BY created_at DESC, request_logs.id DESC
            LIMIT $5`,
          [tenantId, after.at, after.id, start, batchSize],
        ),
      );
      const last = rows.at(-1);
      if (!last) return;
      after = { at: last.at, id: last.id };
      yield rows.map(({ at: _, ...row }) => withTextRead(row));
      if (rows.length < batchSize) return;
    }
  }
}

/** Each span is read in the order of its index, and no further than the page needs. */
async function readPage(
  client: PoolClient,
  tenantId: string,
  filters: RequestLogFilters,
  { start, end }: Span,
  { spans, skip }: PageLocation,
  limit: number,
): Promise<RequestLogRow[]> {
  if (spans.length === 0) return [];
  const { sql, values } = conditionOf(tenantId, filters);
  const next = values.length + 1;
  const { rows } = await client.query<RequestLogRow>(
    `SELECT ${ROW_COLUMNS}
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
  return rows.map(withTextRead);
}

function laterOf(one: Date, other: Date): Date {
  return one > other ? one : other;
}
