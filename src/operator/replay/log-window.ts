import type { Client } from 'pg';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { RequestOptions } from '../../canonical/request-options.js';
import { requestOptionsIn, readOtherUsage } from '../../core/request-log/other-usage.js';
import type { LoggedAttempt, RequestLogRow } from '../../core/request-log/request-log-row.js';
import { ROW_COLUMNS, withTextRead } from '../../core/request-log/stored-row.js';
import type { ArchivedWindow, StoredWindowRow } from './archived-window.js';

/** Rows on their way at once; they are read as they are asked for, however many the window has. */
const ROWS_AT_ONCE = 500;

/**
 * A request of the window, as its log has it. Of a race of two routes only the one that won is in `attempts`, unless the
 * log says when the second was to be asked.
 */
export interface WindowRow extends RequestLogRow {
  readonly tenantId: string;
  /** What its caller asked for beyond a model; undefined: nothing, or it is not known. */
  readonly asked?: RequestOptions | undefined;
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

/** The window's rows in the order in which they came in, in batches; of those in the archive too where it is given. */
export function rowsOf(
  client: Client,
  window: Window,
  archived: ArchivedWindow | undefined,
): AsyncGenerator<WindowRow[]> {
  const rows = windowRows(storedRows(client, window));
  return archived ? merged(rows, windowRows(archived.rowsOf(client))) : rows;
}

/** By tenant there is an index. */
async function* storedRows(
  client: Client,
  { from, to }: Window,
): AsyncGenerator<StoredWindowRow[]> {
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
      const { rows } = await client.query<StoredWindowRow>(`FETCH ${ROWS_AT_ONCE} FROM rehearsal`);
      if (rows.length === 0) return;
      yield rows;
    }
  } finally {
    await client.query('CLOSE rehearsal').catch(() => undefined);
  }
}

async function* windowRows(batches: AsyncIterable<StoredWindowRow[]>): AsyncGenerator<WindowRow[]> {
  for await (const rows of batches) yield rows.map(toWindowRow);
}

function noRows(): WindowRow[] {
  return [];
}

/** Two sources as one, in the order of both. */
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
      // What comes next of either is no earlier than this.
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
    withTextRead(Object.assign(stored, { asked: requestOptionsIn(stored.otherUsage) })),
  );
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

/** What the request used, by its row. */
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

/** Whether the row says that anything was used. */
export function isUsed(usage: Usage): boolean {
  if (usage.inputTokens > 0 || usage.outputTokens > 0) return true;
  return Object.values(usage).some((count: number) => count > 0);
}
