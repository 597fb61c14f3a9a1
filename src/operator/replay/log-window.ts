import type { Client } from 'pg';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { RequestOptions } from '../../canonical/request-options.js';
import { requestOptionsIn, readOtherUsage } from '../../core/request-log/other-usage.js';
import type { LoggedAttempt, RequestLogRow } from '../../core/request-log/request-log-row.js';
import { ROW_COLUMNS, withTextRead } from '../../core/request-log/stored-row.js';
import type { ArchivedWindow, StoredWindowRow } from './archived-window.js';

/** Rows per fetch, for windows of any size. */
const ROWS_AT_ONCE = 500;

/**
 * A logged request of the window. Of two hedged calls, `attempts` has only the winner, unless the log
 * says when the second call was due.
 */
export interface WindowRow extends RequestLogRow {
  readonly tenantId: string;
  /** Request options beyond the model. Undefined when there were none or they are unknown. */
  readonly requestOptions?: RequestOptions | undefined;
  /** Vendor credits of calls that are not in `attempts`. */
  readonly otherVendorCost?: number;
}

/** The first instant of the window, and the first after it. */
export interface Window {
  readonly from: Date;
  readonly to: Date;
}

/** Begins a read-only transaction with one snapshot. */
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

/** Yields the window's rows in order of arrival, in batches, including archived ones if given. */
export function rowsOf(
  client: Client,
  window: Window,
  archived: ArchivedWindow | undefined,
): AsyncGenerator<WindowRow[]> {
  const rows = windowRows(storedRows(client, window));
  return archived ? merged(rows, windowRows(archived.rowsOf(client))) : rows;
}

/** Selects by tenant, for which there is an index. */
async function* storedRows(
  client: Client,
  { from, to }: Window,
): AsyncGenerator<StoredWindowRow[]> {
  // A cursor takes no parameters. These are dates, so no injection is possible.
  await client.query(`
    DECLARE replay NO SCROLL CURSOR FOR
    SELECT ${ROW_COLUMNS}, tenant_id AS "tenantId"
    FROM (SELECT tenants.id AS wanted_id FROM tenants) AS wanted CROSS JOIN LATERAL (
      SELECT * FROM request_logs WHERE request_logs.tenant_id = wanted_id
        AND created_at >= '${from.toISOString()}' AND created_at < '${to.toISOString()}'
    ) AS request_logs
    ORDER BY created_at, request_logs.id`);
  try {
    for (;;) {
      const { rows } = await client.query<StoredWindowRow>(`FETCH ${ROWS_AT_ONCE} FROM replay`);
      if (rows.length === 0) return;
      yield rows;
    }
  } finally {
    await client.query('CLOSE replay').catch(() => undefined);
  }
}

async function* windowRows(batches: AsyncIterable<StoredWindowRow[]>): AsyncGenerator<WindowRow[]> {
  for await (const rows of batches) yield rows.map(toWindowRow);
}

function noRows(): WindowRow[] {
  return [];
}

/** Merges sources in order of arrival. */
async function* merged(
  ...sources: readonly AsyncGenerator<WindowRow[]>[]
): AsyncGenerator<WindowRow[]> {
  const open = sources.map((source) => ({ source, rows: noRows(), isOver: false }));
  try {
    for (;;) {
      for (const each of open) {
        while (each.rows.length === 0 && !each.isOver) {
          const next = await each.source.next();
          if (next.done) each.isOver = true;
          else each.rows = next.value;
        }
      }
      const left = open.filter(({ rows }) => rows.length > 0);
      if (left.length === 0) return;
      // Later batches of any source begin no earlier than this.
      const endMs = Math.min(...left.map(({ rows }) => rows.at(-1)!.createdAt.getTime()));
      const ready: WindowRow[] = [];
      for (const each of left) {
        const behind = each.rows.findIndex(({ createdAt }) => createdAt.getTime() > endMs);
        ready.push(...each.rows.splice(0, behind < 0 ? each.rows.length : behind));
      }
      yield ready.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
    }
  } finally {
    for (const source of sources) await source.return(undefined);
  }
}

function toWindowRow(stored: StoredWindowRow): WindowRow {
  return withoutLosers(
    withTextRead(Object.assign(stored, { requestOptions: requestOptionsIn(stored.otherUsage) })),
  );
}

/** Removes superseded hedge legs where the race cannot be replayed. */
export function withoutLosers(row: WindowRow): WindowRow {
  if (row.requestOptions?.hedge_ms !== undefined) return row;
  const lost = row.attempts.filter(isSuperseded);
  if (lost.length === 0) return row;
  const attempts = row.attempts.filter((attempt) => !lost.includes(attempt));
  const otherVendorCost = lost.reduce((sum, { vendor_cost: cost }) => sum + cost, 0);
  return { ...row, attempts, otherVendorCost };
}

/** Returns the last call that was not superseded by a faster hedge leg. */
export function latestCall({ attempts }: Pick<WindowRow, 'attempts'>): LoggedAttempt | undefined {
  return attempts.findLast((attempt) => !isSuperseded(attempt));
}

function isSuperseded({ outcome }: LoggedAttempt): boolean {
  return outcome === 'outpaced';
}

/** Returns the usage recorded in a row. */
export function usageOf(row: RequestLogRow): Usage {
  const usage = { ...NO_USAGE };
  if (row.otherUsage !== null) Object.assign(usage, readOtherUsage(row.otherUsage));
  usage.inputTokens = row.promptTokens;
  usage.outputTokens = row.completionTokens;
  usage.cacheReadTokens = row.cacheReadTokens;
  usage.cacheWriteTokens = row.cacheWriteTokens;
  usage.reasoningTokens = row.reasoningTokens;
  return usage;
}

/** Returns whether a row recorded any usage. */
export function isUsed(usage: Usage): boolean {
  if (usage.inputTokens > 0 || usage.outputTokens > 0) return true;
  return Object.values(usage).some((count: number) => count > 0);
}
