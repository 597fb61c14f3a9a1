import type { Database } from '../../platform/database/database.js';

/** Whatever runs a statement: a pool, or one connection whose transaction fixes the moment. */
export type BookReader = Pick<Database, 'query'>;

/** A statement that reads one snapshot and finds nothing in sound books, however busy the service is. */
export interface BookCheck {
  /** Its name for programs. */
  readonly id: string;
  /** What is so in sound books. */
  readonly invariant: string;
  /** Which figures of the books are about it. */
  readonly figures: readonly (keyof typeof CHECK_FIGURES)[];
  /** What is wrong where it finds rows. */
  readonly fault: string;
  readonly statement: string;
  /** Whether it finds rows too once rows of the request log were deleted or archived for their age. */
  readonly needsWholeLog: boolean;
}

/** What docs/ledger.md explains under "Checking the books". */
export const BOOK_CHECKS: readonly BookCheck[] = [
  {
    id: 'balance_is_entries',
    invariant: 'Each balance is the sum of its entries.',
    figures: ['balance', 'entries'],
    fault: 'a balance is not the sum of its entries',
    needsWholeLog: false,
    statement: `
SELECT tenant_id, balance, coalesce(entries, 0) AS entries
FROM accounts LEFT JOIN (
  SELECT tenant_id, sum(amount) AS entries FROM ledger_entries GROUP BY tenant_id
) AS sums USING (tenant_id)
WHERE balance <> coalesce(entries, 0)`,
  },
  {
    id: 'held_is_holds',
    invariant: 'What each account holds is the sum of its open holds.',
    figures: ['held', 'holds', 'open holds'],
    fault: 'what is held is not the sum of the open holds',
    needsWholeLog: false,
    statement: `
SELECT tenant_id, held, coalesce(sum(amount), 0) AS holds
FROM accounts LEFT JOIN holds USING (tenant_id)
GROUP BY tenant_id, held
HAVING held <> coalesce(sum(amount), 0)`,
  },
  {
    id: 'months_are_entries',
    invariant: 'What each month spent is the sum of its charges, shortfalls and refunds.',
    figures: ['spent in months', 'spent in entries'],
    fault: 'what a month spent is not the sum of its entries',
    needsWholeLog: false,
    statement: `
SELECT tenant_id, month FROM (
  SELECT tenant_id, month, spent AS amount FROM account_months
  UNION ALL
  SELECT tenant_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, amount
  FROM ledger_entries WHERE kind NOT IN ('grant', 'correction')
) AS parts
GROUP BY tenant_id, month HAVING sum(amount) <> 0`,
  },
  {
    id: 'nothing_lost_or_made',
    invariant:
      'Each balance is what was granted less what was spent, and no more is held than is there.',
    figures: ['balance', 'granted', 'spent'],
    fault: 'credits were lost or made, or more is held than is there',
    needsWholeLog: false,
    statement: `
SELECT tenant_id FROM accounts WHERE balance <> granted - spent OR held > balance`,
  },
  {
    id: 'nothing_twice',
    invariant: 'No request is charged, refunded or logged twice.',
    figures: ['charged requests', 'log rows'],
    fault: 'a request is charged, refunded or logged twice',
    needsWholeLog: false,
    statement: `
SELECT request_id, kind FROM ledger_entries WHERE request_id IS NOT NULL
GROUP BY request_id, kind HAVING count(*) > 1
UNION ALL
SELECT request_id, 'log row' FROM request_logs GROUP BY request_id HAVING count(*) > 1`,
  },
  {
    id: 'log_rows_have_entries',
    invariant:
      'Each log row has the entries that its cost and shortfall ask for, and no charge is without its row.',
    figures: ['charged requests', 'log rows'],
    fault: 'a log row does not have the entries that its cost and shortfall ask for',
    needsWholeLog: true,
    statement: `
SELECT request_id, log.cost, log.shortfall, entry.charged, entry.written_off
FROM request_logs AS log
FULL JOIN (
  SELECT request_id,
    coalesce(-sum(amount) FILTER (WHERE kind = 'charge'), 0) AS charged,
    coalesce(sum(amount) FILTER (WHERE kind = 'shortfall'), 0) AS written_off
  FROM ledger_entries WHERE request_id IS NOT NULL GROUP BY request_id
) AS entry USING (request_id)
WHERE coalesce(log.cost + log.shortfall, -1) <> coalesce(entry.charged, 0)
  OR coalesce(log.shortfall, -1) <> coalesce(entry.written_off, 0)`,
  },
  {
    id: 'totals_are_the_log',
    invariant: 'The totals of each account are those of the log less what was refunded.',
    figures: ['spent', 'logged cost', 'refunds'],
    fault: 'the totals of an account are not those of the log',
    needsWholeLog: true,
    statement: `
SELECT tenant_id, spent, request_count, log.cost, log.requests, refunds.amount
FROM accounts
LEFT JOIN (
  SELECT tenant_id, sum(cost) AS cost, count(*) AS requests FROM request_logs GROUP BY tenant_id
) AS log USING (tenant_id)
LEFT JOIN (
  SELECT tenant_id, sum(amount) AS amount FROM ledger_entries WHERE kind = 'refund' GROUP BY tenant_id
) AS refunds USING (tenant_id)
WHERE spent <> coalesce(log.cost, 0) - coalesce(refunds.amount, 0) OR request_count <> coalesce(log.requests, 0)`,
  },
];

/**
 * The first rows that a check finds. Apart from the check: to have few rows in order PostgreSQL would read
 * millions of them by an index.
 */
export function firstRowsOf(statement: string, limit: number): string {
  return `WITH found AS MATERIALIZED (${statement})\nSELECT * FROM found ORDER BY 1 LIMIT ${limit}`;
}

/** The books in figures: whole credits, and numbers of rows. */
export const BOOK_FIGURES = {
  tenants: 'SELECT count(*) FROM accounts',
  balance: 'SELECT sum(balance) FROM accounts',
  entries: 'SELECT sum(amount) FROM ledger_entries',
  held: 'SELECT sum(held) FROM accounts',
  holds: 'SELECT sum(amount) FROM holds',
  'open holds': 'SELECT count(*) FROM holds',
  'charged requests': `SELECT count(*) FROM ledger_entries WHERE kind = 'charge'`,
  'log rows': 'SELECT count(*) FROM request_logs',
} as const;
/** What the checks are about, besides. */
export const CHECK_FIGURES = {
  ...BOOK_FIGURES,
  granted: 'SELECT sum(granted) FROM accounts',
  spent: 'SELECT sum(spent) FROM accounts',
  'spent in months': 'SELECT sum(spent) FROM account_months',
  'spent in entries': `SELECT -sum(amount) FROM ledger_entries WHERE kind NOT IN ('grant', 'correction')`,
  refunds: `SELECT sum(amount) FROM ledger_entries WHERE kind = 'refund'`,
  'logged cost': 'SELECT sum(cost) FROM request_logs',
} as const;

export type BookFigures = Record<keyof typeof BOOK_FIGURES, string>;

/** Whether months of the request log are in the archive, and not in the database; of older schemas too. */
export async function hasArchivedLogs(books: BookReader): Promise<boolean> {
  const { rows } = await books.query<{ known: boolean }>(
    `SELECT to_regclass('archived_request_logs') IS NOT NULL AS known`,
  );
  if (!rows[0]!.known) return false;
  const { rowCount } = await books.query('SELECT FROM archived_request_logs LIMIT 1');
  return rowCount === 1;
}

/** The figures at one moment, as decimal text: sums over tenants may be beyond what a number holds. */
export async function readBookFigures(books: BookReader): Promise<BookFigures> {
  const columns = Object.entries(BOOK_FIGURES).map(
    ([name, statement]) => `coalesce((${statement}), 0)::text AS "${name}"`,
  );
  const { rows } = await books.query<BookFigures>(`SELECT ${columns.join(', ')}`);
  return rows[0]!;
}

/**
 * What is wrong with the books, one line for each check that found something, with up to three of the
 * rows that it found; nothing, always.
 *
 * @param isLogWhole false where rows of the request log are deleted or archived for their age
 */
export async function findBookFaults(
  books: BookReader,
  { isLogWhole }: { isLogWhole: boolean },
): Promise<string[]> {
  const faults: string[] = [];
  for (const { fault, statement, needsWholeLog } of BOOK_CHECKS) {
    if (needsWholeLog && !isLogWhole) continue;
    const { rows } = await books.query(firstRowsOf(statement, 3));
    if (rows.length > 0) faults.push(`${fault}: ${JSON.stringify(rows)}`);
  }
  return faults;
}
