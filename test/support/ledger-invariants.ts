import type { Database } from '../../src/platform/database/database.js';

export interface LedgerSnapshot {
  balance: number;
  held: number;
  entries: number;
  holds: number;
}

/** Every account beside the sums it must agree with, in one statement and so at one moment. */
export async function readLedger(database: Database): Promise<LedgerSnapshot[]> {
  const { rows } = await database.query<LedgerSnapshot>(`
    SELECT balance, held,
           coalesce((SELECT sum(amount)::bigint FROM ledger_entries e
                      WHERE e.tenant_id = a.tenant_id), 0) AS entries,
           coalesce((SELECT sum(amount)::bigint FROM holds h
                      WHERE h.tenant_id = a.tenant_id), 0) AS holds
      FROM accounts a`);
  return rows;
}

/** Months of which the spend is not that of their entries, which statements rest on. */
async function findOddMonths(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ month: string; difference: number }>(`
    SELECT month::text, sum(amount)::bigint AS difference
      FROM (
        SELECT tenant_id, month, spent AS amount FROM account_months
        UNION ALL
        SELECT tenant_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, amount
          FROM ledger_entries WHERE kind <> 'grant'
      ) AS parts
     GROUP BY tenant_id, month HAVING sum(amount) <> 0`);
  return rows.map(({ month, difference }) => `month ${month} differs by ${difference}`);
}

/** What is wrong with the ledger at this moment; nothing, always. */
export async function findLedgerFaults(database: Database): Promise<string[]> {
  const accounts = await readLedger(database);
  const faults = accounts.flatMap(({ balance, held, entries, holds }) => [
    ...(balance < 0 ? [`negative balance ${balance}`] : []),
    ...(held > balance ? [`held ${held} above balance ${balance}`] : []),
    ...(balance !== entries ? [`balance ${balance}, entries ${entries}`] : []),
    ...(held !== holds ? [`held ${held}, holds ${holds}`] : []),
  ]);
  return [...faults, ...(await findOddMonths(database))];
}
