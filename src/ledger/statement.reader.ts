import { Injectable } from '@nestjs/common';
import { Database } from '../common/database/database.js';
import { Turnstile } from '../common/database/turnstile.js';
import type { UtcMonth } from '../common/time/utc-month.js';

/** A movement of a tenant's balance; the amount is signed credits. */
export interface StatementEntry {
  id: string;
  createdAt: Date;
  kind: LedgerEntryKind;
  amount: number;
  requestId: string | null;
}

export type LedgerEntryKind = 'grant' | 'charge' | 'shortfall' | 'refund';

/** What a calendar month did to a tenant's balance. */
export interface StatementSummary {
  openingBalance: number;
  closingBalance: number;
  /** Signed sums: `closingBalance` is `openingBalance` and all of them. */
  totals: Record<LedgerEntryKind, number>;
  /** The month's last entry at the time of the summary; 0: none. */
  lastId: number;
}

interface SumsRow extends Record<LedgerEntryKind, number> {
  balance: number;
  later: number;
  last_id: number;
}

/** Of the pool's ten connections. A month of millions of entries takes seconds to add up. */
const MAX_CONNECTIONS = 2;

/** Reads the ledger month by month; every method is bound to one tenant. */
@Injectable()
export class StatementReader {
  private readonly turnstile = new Turnstile(MAX_CONNECTIONS);

  constructor(private readonly database: Database) {}

  async summaryOf(tenantId: string, month: UtcMonth): Promise<StatementSummary> {
    const { rows } = await this.turnstile.run(() =>
      this.database.query<SumsRow>(
        `SELECT coalesce((SELECT balance FROM accounts WHERE tenant_id = $1), 0) AS balance,
           coalesce(sum(amount) FILTER (WHERE created_at >= $3), 0)::bigint AS later,
           ${sumOf('grant')}, ${sumOf('charge')}, ${sumOf('shortfall')}, ${sumOf('refund')},
           coalesce(max(id) FILTER (WHERE created_at < $3), 0)::bigint AS last_id
         FROM ledger_entries WHERE tenant_id = $1 AND created_at >= $2`,
        [tenantId, month.start, month.end],
      ),
    );
    const { balance, later, last_id: lastId, grant, charge, shortfall, refund } = rows[0]!;
    const closingBalance = balance - later;
    return {
      openingBalance: closingBalance - grant - charge - shortfall - refund,
      closingBalance,
      totals: { grant, charge, shortfall, refund },
      lastId,
    };
  }

  /**
   * The entries that a summary adds up, oldest first, in batches of `batchSize`. An account is
   * locked before an entry gets its id, so a tenant's entries up to an id are the same for ever. No
   * connection is taken between two batches.
   */
  async *entriesOf(
    tenantId: string,
    month: UtcMonth,
    { lastId }: Pick<StatementSummary, 'lastId'>,
    batchSize: number,
  ): AsyncGenerator<StatementEntry[]> {
    // Times as text, because a Date would cut the microseconds that the order rests on.
    let after = { at: month.start.toISOString(), id: '0' };
    for (;;) {
      const { rows } = await this.turnstile.run(() =>
        this.database.query<StatementEntry & { at: string }>(
          `SELECT ledger_entries.id::text AS id, created_at AS "createdAt", kind, amount,
             request_id AS "requestId", created_at::text AS at
           FROM ledger_entries
           WHERE tenant_id = $1 AND (created_at, ledger_entries.id) > ($2::timestamptz, $3::bigint)
             AND created_at < $4 AND ledger_entries.id <= $5
           ORDER BY created_at, ledger_entries.id LIMIT $6`,
          [tenantId, after.at, after.id, month.end, lastId, batchSize],
        ),
      );
      const last = rows.at(-1);
      if (!last) return;
      after = { at: last.at, id: last.id };
      yield rows.map(({ at: _, ...entry }) => entry);
      if (rows.length < batchSize) return;
    }
  }
}

function sumOf(kind: LedgerEntryKind): string {
  return `coalesce(sum(amount) FILTER (WHERE kind = '${kind}' AND created_at < $3), 0)::bigint AS "${kind}"`;
}
