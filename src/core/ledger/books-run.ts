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

/** All checks together. What is not looked at by then is said to be so. */
const TOTAL_LIMIT_MS = 120_000;
const STATEMENT_LIMIT_MS = 60_000;
const MAX_ROWS = 20;
const LOCK_NAME = 'model-gateway books';
const STATEMENT_TIMEOUT = '57014';

type FigureName = keyof typeof CHECK_FIGURES;

/** What one check found. */
export interface BookFinding {
  readonly check: BookCheck;
  /** `unchecked`: it was not looked at, or not to the end. */
  readonly status: 'sound' | 'broken' | 'unchecked';
  /** Why it is `unchecked`; null otherwise. */
  readonly reason: string | null;
  /** Whole numbers as text, since sums may be beyond what a number holds; null: not looked at. */
  readonly figures: Partial<Record<FigureName, string | null>>;
  /** The first of the rows at fault. */
  readonly rows: readonly object[];
  readonly hasMoreRows: boolean;
  readonly durationMs: number;
}

export interface BooksReport {
  /** The one moment that all of it is about. */
  readonly at: Date;
  readonly durationMs: number;
  readonly findings: readonly BookFinding[];
}

/** What of it is known so far: a check that is under way, or over. */
export class BooksRun {
  readonly findings: BookFinding[] = [];
  /** Rejects where another process checks the books, and when the run is cancelled. */
  readonly done: Promise<BooksReport>;
  /** Who waits for it. */
  watchers = 0;
  /** The one moment that all of it is about; undefined before the snapshot is there. */
  at: Date | undefined;
  private isCancelled = false;
  private session: number | undefined;
  private listeners: (() => void)[] = [];

  /** @param previous a run of this process that is coming to its end, whose lock is waited for */
  constructor(
    private readonly database: Database,
    private readonly keepsWholeLog: boolean,
    previous?: Promise<unknown>,
  ) {
    this.done = this.run(previous).finally(() => this.stir());
    // Whoever waits for it hears of it; nobody has to.
    this.done.catch(() => undefined);
  }

  /** Resolves when there is more to see, or it is over. */
  next(): Promise<void> {
    return new Promise((resolve) => this.listeners.push(resolve));
  }

  /** Ends the statement under way, and the run with it. */
  cancel(): void {
    this.isCancelled = true;
    const cancelled = this.database.query('SELECT pg_cancel_backend($1)', [this.session]);
    // Then it goes on to its limit.
    cancelled.catch(() => undefined);
  }

  private stir(): void {
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
    // One that dies fails the statement under way; unheard it would end the process.
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
          'Another instance checks the books at this moment. Ask again in a minute.',
        );
      }
      this.session = rows[0].session;
      return await this.checkAll(client);
    } finally {
      this.session = undefined;
      // The session's lock ends with it.
      await client.end().catch(() => undefined);
    }
  }

  private async checkAll(client: Client): Promise<BooksReport> {
    const startedMs = performance.now();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Sums over millions of rows: month by month where the tables are, and without files where that goes.
    await client.query(
      `SET LOCAL work_mem = '64MB'; SET LOCAL enable_partitionwise_aggregate = on`,
    );
    const { rows } = await client.query<{ at: Date }>('SELECT now() AS at');
    const at = rows[0]!.at;
    const isLogWhole = this.keepsWholeLog && !(await hasArchivedLogs(client));
    const snapshot = new BoundedSnapshot(client, startedMs + TOTAL_LIMIT_MS);
    this.at = at;
    this.stir();
    for (const check of BOOK_CHECKS) {
      const found =
        check.needsWholeLog && !isLogWhole
          ? unchecked(check, 'Rows of the request log were deleted or archived for their age.')
          : await findIn(snapshot, check);
      if (this.isCancelled) throw new Error('Nobody waits for the check of the books any more.');
      this.findings.push(found);
      this.stir();
    }
    await client.query('COMMIT');
    const durationMs = Math.round(performance.now() - startedMs);
    return { at, durationMs, findings: this.findings };
  }
}

/** One snapshot, in which a statement that takes too long ends without ending the others. */
class BoundedSnapshot {
  private readonly figures = new Map<FigureName, string | null>();

  constructor(
    private readonly client: Client,
    private readonly untilMs: number,
  ) {}

  /** Undefined: it took too long, or there was no time left. */
  async ask<Row extends QueryResultRow>(statement: string): Promise<Row[] | undefined> {
    const leftMs = Math.floor(Math.min(STATEMENT_LIMIT_MS, this.untilMs - performance.now()));
    if (leftMs < 1) return undefined;
    await this.client.query(`SAVEPOINT asked; SET LOCAL statement_timeout = ${leftMs}`);
    try {
      return (await this.client.query<Row>(statement)).rows;
    } catch (error) {
      if (sqlStateOf(error) !== STATEMENT_TIMEOUT) throw error;
      return undefined;
    } finally {
      // A session that is gone has thrown already.
      await this.client.query('ROLLBACK TO asked; RELEASE asked').catch(() => undefined);
    }
  }

  /** Null: not looked at. */
  async figure(name: FigureName): Promise<string | null> {
    const known = this.figures.get(name);
    if (known !== undefined) return known;
    const rows = await this.ask<{ value: string }>(
      `SELECT coalesce((${CHECK_FIGURES[name]}), 0)::text AS value`,
    );
    const value = rows?.[0]?.value ?? null;
    this.figures.set(name, value);
    return value;
  }
}

async function findIn(snapshot: BoundedSnapshot, check: BookCheck): Promise<BookFinding> {
  const startedMs = performance.now();
  const rows = await snapshot.ask(firstRowsOf(check.statement, MAX_ROWS + 1));
  if (!rows) return unchecked(check, 'It took longer than a check may take.', startedMs);
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
