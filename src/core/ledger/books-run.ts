import pg, { type Client, type QueryResultRow } from 'pg';
import type { Database } from '../../platform/database/database.js';
import { sqlStateOf } from '../../platform/database/database-outage.js';
import { ConflictError } from '../../platform/errors/gateway-errors.js';
import {
  BOOK_CHECKS,
  CHECK_FIGURES,
  firstRowsOf,
  hasArchivedLogs,
  type BookCheck,
} from './books.js';

/** Time limit of all checks together; checks beyond it are reported as unchecked. */
const TOTAL_LIMIT_MS = 120_000;
const STATEMENT_LIMIT_MS = 60_000;
const MAX_ROWS = 20;
const LOCK_NAME = 'model-gateway books';
const STATEMENT_TIMEOUT = '57014';

type FigureName = keyof typeof CHECK_FIGURES;

/** The result of one check. */
export interface BookFinding {
  readonly check: BookCheck;
  /** `unchecked`: not run, or not to the end. */
  readonly status: 'sound' | 'broken' | 'unchecked';
  /** Why it is `unchecked`, else null. */
  readonly reason: string | null;
  /** Integers as text, since sums may exceed a number; null when not read. */
  readonly figures: Partial<Record<FigureName, string | null>>;
  /** The first rows that violate the invariant. */
  readonly rows: readonly object[];
  readonly hasMoreRows: boolean;
  readonly durationMs: number;
}

export interface BooksReport {
  /** Time of the snapshot. */
  readonly at: Date;
  readonly durationMs: number;
  readonly findings: readonly BookFinding[];
}

/** A running or finished check of the books. */
export class BooksRun {
  readonly findings: BookFinding[] = [];
  /** Rejects when another process checks the books, and on cancellation. */
  readonly done: Promise<BooksReport>;
  /** Number of waiting callers. */
  watchers = 0;
  /** Time of the snapshot; undefined before it exists. */
  at: Date | undefined;
  private isCancelled = false;
  private session: number | undefined;
  private listeners: (() => void)[] = [];

  /**
   * @param previous a finishing run of this process, whose lock is awaited
   */
  constructor(
    private readonly database: Database,
    private readonly keepsWholeLog: boolean,
    previous?: Promise<unknown>,
  ) {
    this.done = this.run(previous).finally(() => this.notifyListeners());
    // Errors reach the waiting callers; there may be none.
    this.done.catch(() => undefined);
  }

  /** Resolves on the next finding, or when the run ends. */
  next(): Promise<void> {
    return new Promise((resolve) => this.listeners.push(resolve));
  }

  /** Cancels the current statement and the run. */
  cancel(): void {
    this.isCancelled = true;
    const cancelled = this.database.query('SELECT pg_cancel_backend($1)', [this.session]);
    // If this fails, the run continues to its time limit.
    cancelled.catch(() => undefined);
  }

  private notifyListeners(): void {
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  private async run(previous: Promise<unknown> | undefined): Promise<BooksReport> {
    await previous?.catch(() => undefined);
    const client = new pg.Client({
      connectionString: this.database.url,
      application_name: 'model-gateway books',
      connectionTimeoutMillis: 3_000,
      options: '-c lock_timeout=1000',
    });
    // A dying connection fails its current statement; without a listener the error would end the
    // process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ is_ours: boolean; session: number }>(
        'SELECT pg_try_advisory_lock(hashtext($1)) AS is_ours, pg_backend_pid() AS session',
        [LOCK_NAME],
      );
      if (rows[0]?.is_ours !== true) {
        throw new ConflictError(
          'books',
          'Another instance is checking the books. Try again in a minute.',
        );
      }
      this.session = rows[0].session;
      return await this.checkAll(client);
    } finally {
      this.session = undefined;
      // Closing the session releases the lock.
      await client.end().catch(() => undefined);
    }
  }

  private async checkAll(client: Client): Promise<BooksReport> {
    const startedMs = performance.now();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Sums over millions of rows: partition by partition, in memory if possible.
    await client.query(
      `SET LOCAL work_mem = '64MB'; SET LOCAL enable_partitionwise_aggregate = on`,
    );
    const { rows } = await client.query<{ at: Date }>('SELECT now() AS at');
    const at = rows[0]!.at;
    const isLogWhole = this.keepsWholeLog && !(await hasArchivedLogs(client));
    const snapshot = new BoundedSnapshot(client, startedMs + TOTAL_LIMIT_MS);
    this.at = at;
    this.notifyListeners();
    for (const check of BOOK_CHECKS) {
      const found =
        check.needsWholeLog && !isLogWhole
          ? unchecked(check, 'Old request log rows were deleted or archived.')
          : await findIn(snapshot, check);
      if (this.isCancelled) throw new Error('books check cancelled: no caller is waiting');
      this.findings.push(found);
      this.notifyListeners();
    }
    await client.query('COMMIT');
    const durationMs = Math.round(performance.now() - startedMs);
    return { at, durationMs, findings: this.findings };
  }
}

/** One snapshot in which a slow statement is cancelled without affecting the others. */
class BoundedSnapshot {
  private readonly figures = new Map<FigureName, string | null>();

  constructor(
    private readonly client: Client,
    private readonly untilMs: number,
  ) {}

  /** Returns undefined on a timeout. */
  async reservation<Row extends QueryResultRow>(statement: string): Promise<Row[] | undefined> {
    const leftMs = Math.floor(Math.min(STATEMENT_LIMIT_MS, this.untilMs - performance.now()));
    if (leftMs < 1) return undefined;
    await this.client.query(`SAVEPOINT before_check; SET LOCAL statement_timeout = ${leftMs}`);
    try {
      return (await this.client.query<Row>(statement)).rows;
    } catch (error) {
      if (sqlStateOf(error) !== STATEMENT_TIMEOUT) throw error;
      return undefined;
    } finally {
      // A lost session has thrown already.
      await this.client
        .query('ROLLBACK TO before_check; RELEASE before_check')
        .catch(() => undefined);
    }
  }

  /** Returns null when not read. */
  async figure(name: FigureName): Promise<string | null> {
    const known = this.figures.get(name);
    if (known !== undefined) return known;
    const rows = await this.reservation<{ value: string }>(
      `SELECT coalesce((${CHECK_FIGURES[name]}), 0)::text AS value`,
    );
    const value = rows?.[0]?.value ?? null;
    this.figures.set(name, value);
    return value;
  }
}

async function findIn(snapshot: BoundedSnapshot, check: BookCheck): Promise<BookFinding> {
  const startedMs = performance.now();
  const rows = await snapshot.reservation(firstRowsOf(check.statement, MAX_ROWS + 1));
  if (!rows) return unchecked(check, 'The check timed out.', startedMs);
  const figures: BookFinding['figures'] = {};
  for (const name of check.figures) figures[name] = await snapshot.figure(name);
  return {
    check,
    status: rows.length > 0 ? 'broken' : 'sound',
    reason: null,
    figures,
    rows: rows.slice(0, MAX_ROWS),
    hasMoreRows: rows.length > MAX_ROWS,
    durationMs: Math.round(performance.now() - startedMs),
  };
}

function unchecked(check: BookCheck, reason: string, startedMs = performance.now()): BookFinding {
  return {
    check,
    status: 'unchecked',
    reason,
    figures: {},
    rows: [],
    hasMoreRows: false,
    durationMs: Math.round(performance.now() - startedMs),
  };
}
