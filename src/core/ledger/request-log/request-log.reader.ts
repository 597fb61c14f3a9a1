import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import pLimit from 'p-limit';
import { Database } from '../../../platform/database/database.js';
import {
  conditionOf,
  type RequestLogFilters,
  readSnapshot,
  type RequestLogProgress,
} from './request-log-filters.js';
import type { RequestLogRow } from './request-log-row.js';
import { toSpan, type Span, splitSpan } from './split-span.js';
import { fromStoredText } from '../../../platform/database/stored-text.js';

/** What a statement selects to answer rows of `RequestLogRow`, to be read with `withTextRead`. */
const ROW_COLUMNS = `
  request_logs.id::text AS id, request_id AS "requestId", api_key_id AS "apiKeyId", endpoint, model, provider,
  status, outcome, error_type AS "errorType", finish_reason AS "finishReason",
  traffic_mode AS "trafficMode", prompt_tokens AS "promptTokens",
  completion_tokens AS "completionTokens", usage_source AS "usageSource", cost,
  model_charge AS "modelCharge", byok_platform_fee AS "byokPlatformFee",
  managed_tool_fee AS "managedToolFee", agent_runtime_fee AS "agentRuntimeFee",
  billing_note AS "billingNote", streamed, latency_ms AS "latencyMs",
  generation_time_ms AS "generationTimeMs", created_at AS "createdAt"`;

/** A page of a list, and how long the whole list is. */
interface RequestLogPage {
  rows: RequestLogRow[];
  total: number;
}

/** Of the pool's ten connections. Listing takes longer the more rows a tenant has. */
const MAX_CONNECTIONS = 3;

/** Reads the request log; every method is bound to one tenant. The ledger writes it. */
@Injectable()
export class RequestLogReader {
  private readonly limit = pLimit(MAX_CONNECTIONS);

  constructor(private readonly database: Database) {}

  /** Newest first. Takes no longer for pages far behind, or for logs of millions of rows. */
  pageOfTenant(tenantId: string, filters: RequestLogFilters, page: Page): Promise<RequestLogPage> {
    return this.limit(() =>
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
      `SELECT ${ROW_COLUMNS} FROM request_logs WHERE tenant_id = $1 AND request_id = $2
         AND created_at >= (SELECT swept_before FROM request_log_progress)`,
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
      const { rows } = await this.limit(() =>
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

/** Undoes `toStoredText`, which the ledger applies to every text of a row. */
function withTextRead<Row extends RequestLogRow>(row: Row): Row {
  return {
    ...row,
    endpoint: fromStoredText(row.endpoint),
    model: fromStoredText(row.model),
    provider: fromStoredText(row.provider),
    errorType: readNullableText(row.errorType),
    finishReason: readNullableText(row.finishReason),
    billingNote: readNullableText(row.billingNote),
  };
}

function readNullableText(stored: string | null): string | null {
  return stored === null ? null : fromStoredText(stored);
}

/** A part of a list: at most `limit` rows after the first `offset`. */
export interface Page {
  limit: number;
  offset: number;
}

/** Where in time the rows of a page lie. */
interface PageLocation {
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
async function locatePage(
  client: PoolClient,
  progress: RequestLogProgress,
  tenantId: string,
  filters: RequestLogFilters,
  span: Span,
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
      .map((edge) => rowsOf('request_logs', '1', within('created_at', edge))),
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
       SELECT first::text AS first, last::text AS last, before::bigint AS before FROM ranked
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
