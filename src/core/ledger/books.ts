import type { Database } from '../../platform/database/database.js';

/** Runs statements: a pool, or one connection whose transaction fixes the snapshot. */
export type BookReader = Pick<Database, 'query'>;

/** A statement over one snapshot that finds no rows in sound books, however busy the service is. */
export interface BookCheck {
  /** Id for programs. */
  readonly id: string;
  /** The property of sound books. */
  readonly invariant: string;
  /** Figures related to the check. */
  readonly figures: readonly (keyof typeof CHECK_FIGURES)[];
  /** Describes the violation. */
  readonly fault: string;
  readonly statement: string;
  /** True when it needs the complete request log, without rows deleted or archived by age. */
  readonly needsWholeLog: boolean;
}

/** Explained in docs/ledger.md under "Checking the books". */
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
    invariant: "Each account's held credits are the sum of its open holds.",
    figures: ['held', 'holds', 'open holds'],
    fault: 'held credits are not the sum of the open holds',
    needsWholeLog: false,
    statement: `
SELECT tenant_id, held, coalesce(sum(amount), 0) AS holds
FROM accounts LEFT JOIN holds USING (tenant_id)
GROUP BY tenant_id, held
HAVING held <> coalesce(sum(amount), 0)`,
  },
  {
    id: 'months_are_entries',
    invariant: "Each month's spend is the sum of its charges, shortfalls and refunds.",
    figures: ['spent in months', 'spent in entries'],
    fault: "a month's spend is not the sum of its entries",
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
    invariant: 'Each balance is granted less spent, and held credits never exceed it.',
    figures: ['balance', 'granted', 'spent'],
    fault: 'a balance is not granted less spent, or held credits exceed it',
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
      'Each log row has the entries for its cost and shortfall, and each charge has a log row.',
    figures: ['charged requests', 'log rows'],
    fault: 'a log row lacks the entries for its cost and shortfall, or a charge has no log row',
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
    invariant: "Each account's totals match the request log, less refunds.",
    figures: ['spent', 'logged cost', 'refunds'],
    fault: "an account's totals do not match the request log",
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
 * Returns the first rows that a check finds. Materialized, because PostgreSQL would otherwise read
 * millions of rows through an index to sort a few.
 */
export function firstRowsOf(statement: string, limit: number): string {
  return `WITH found AS MATERIALIZED (${statement})\nSELECT * FROM found ORDER BY 1 LIMIT ${limit}`;
}

/** Totals of the books: whole credits, and numbers of rows. */
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
/** Further totals that checks show. */
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

/** Returns whether months of the request log are archived; works with older schemas. */
export async function hasArchivedLogs(books: BookReader): Promise<boolean> {
  const { rows } = await books.query<{ known: boolean }>(
    `SELECT to_regclass('archived_request_logs') IS NOT NULL AS known`,
  );
  if (!rows[0]!.known) return false;
  const { rowCount } = await books.query('SELECT FROM archived_request_logs LIMIT 1');
  return rowCount === 1;
}

/** Returns the totals at one time as decimal text, since sums over tenants may exceed a number. */
export async function readBookFigures(books: BookReader): Promise<BookFigures> {
  const columns = Object.entries(BOOK_FIGURES).map(
    ([name, statement]) => `coalesce((${statement}), 0)::text AS "${name}"`,
  );
  const { rows } = await books.query<BookFigures>(`SELECT ${columns.join(', ')}`);
  return rows[0]!;
}

/**
 * Returns one line per failed check, with up to three of its rows; always empty in sound books.
 *
 * @param isLogWhole false when log rows were deleted or archived by age
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
