import { findBookFaults } from '../../src/core/ledger/books.js';
import type { Database } from '../../src/platform/database/database.js';

export interface LedgerSnapshot {
  balance: number;
  held: number;
  entries: number;
  holds: number;
}

/** Reads every account and the sums it must match, in one statement and so from one snapshot. */
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

/** Returns the ledger's inconsistencies; there must be none at any time. Suites may have changed the log. */
export function findLedgerFaults(database: Database): Promise<string[]> {
  return findBookFaults(database, { isLogWhole: false });
}
