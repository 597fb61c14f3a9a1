import type { Client } from 'pg';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { Asked } from '../../canonical/asked.js';
import { askedIn, readOtherUsage } from '../../core/ledger/receipts/other-usage.js';
import type {
  LoggedAttempt,
  RequestLogRow,
} from '../../core/ledger/request-log/request-log-row.js';
import {
  ROW_COLUMNS,
  withTextRead,
  type StoredRow,
} from '../../core/ledger/request-log/stored-row.js';

/** Rows on their way at once; they are read as they are asked for, however many the window has. */
const ROWS_AT_ONCE = 500;

/**
 * A request of the window, as its log has it. Of a race of two routes only the one that won is in `attempts`, unless the
 * log says when the second was to be asked.
 */
export interface WindowRow extends RequestLogRow {
  readonly tenantId: string;
  /** What its caller asked for beyond a model; undefined: nothing, or it is not known. */
  readonly asked?: Asked | undefined;
  /** Credits that vendors took for calls that are not in `attempts`; undefined: none. */
  readonly besides?: number;
}

/** The first instant of the window, and the first behind it. */
export interface Window {
  readonly from: Date;
  readonly to: Date;
}

/** A transaction in which nothing can be written; what it reads is the state of one moment. */
export async function beginReading(client: Client): Promise<void> {
  await client.query(`
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = '120s';
    SET LOCAL lock_timeout = '5s';
    SET LOCAL idle_in_transaction_session_timeout = '10min';
    SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL cursor_tuple_fraction = 1;
    SET LOCAL jit = off`);
}

/** The window's rows in the order in which they came in, in batches; by tenant there is an index. */
export async function* rowsOf(client: Client, { from, to }: Window): AsyncGenerator<WindowRow[]> {
  // A cursor takes no parameters; these are dates, and can be nothing else.
  await client.query(`
    DECLARE rehearsal NO SCROLL CURSOR FOR
    SELECT ${ROW_COLUMNS}, tenant_id AS "tenantId"
    FROM (SELECT tenants.id AS wanted_id FROM tenants) AS wanted CROSS JOIN LATERAL (
      SELECT * FROM request_logs WHERE request_logs.tenant_id = wanted_id
        AND created_at >= '${from.toISOString()}' AND created_at < '${to.toISOString()}'
    ) AS request_logs
    ORDER BY created_at, request_logs.id`);
  try {
    for (;;) {
      const { rows } = await client.query<StoredRow & { tenantId: string }>(
        `FETCH ${ROWS_AT_ONCE} FROM rehearsal`,
      );
      if (rows.length === 0) return;
      yield rows.map(toWindowRow);
    }
  } finally {
    await client.query('CLOSE rehearsal').catch(() => undefined);
  }
}

function toWindowRow(stored: StoredRow & { tenantId: string }): WindowRow {
  return withoutLosers(withTextRead({ ...stored, asked: askedIn(stored.otherUsage) }));
}

/** The row without calls that others were faster than, where the race cannot be held again. */
export function withoutLosers(row: WindowRow): WindowRow {
  if (row.asked?.hedge_ms !== undefined) return row;
  const lost = row.attempts.filter(isOutpaced);
  if (lost.length === 0) return row;
  const attempts = row.attempts.filter((attempt) => !lost.includes(attempt));
  const besides = lost.reduce((sum, { vendor_cost: cost }) => sum + cost, 0);
  return { ...row, attempts, besides };
}

/** The call that answered or came last, but for one that another was faster than. */
export function latestCall({ attempts }: Pick<WindowRow, 'attempts'>): LoggedAttempt | undefined {
  return attempts.findLast((attempt) => !isOutpaced(attempt));
}

function isOutpaced({ outcome }: LoggedAttempt): boolean {
  return outcome === 'outpaced';
}

/** How many rows of the window lie in the archive, at most, where they are not read. */
export async function archivedFilesIn(client: Client, { from, to }: Window): Promise<number> {
  const { rows } = await client.query<{ files: number }>(
    `SELECT count(*)::integer AS files FROM archived_request_logs
     WHERE last_created_at >= $1 AND first_created_at < $2`,
    [from, to],
  );
  return rows[0]?.files ?? 0;
}

/** What the request used, by its row. */
export function usageOf(row: RequestLogRow): Usage {
  return {
    ...NO_USAGE,
    ...readOtherUsage(row.otherUsage),
    inputTokens: row.promptTokens,
    outputTokens: row.completionTokens,
    cacheReadTokens: row.cacheReadTokens,
    cacheWriteTokens: row.cacheWriteTokens,
    reasoningTokens: row.reasoningTokens,
  };
}

/** Whether the row says that anything was used. */
export function isUsed(usage: Usage): boolean {
  return Object.values(usage).some((count: number) => count > 0);
}
