import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/** A tenant's account in credits. `balance` = `held` + `available`. */
export interface AccountBalance {
  balance: number;
  held: number;
  available: number;
  /** Credits granted in total. */
  granted: number;
  /** Credits paid in total. */
  spent: number;
  /** Log rows in total. */
  requestCount: number;
}

/** A tenant's spending and requests in a calendar month (UTC). */
export interface AccountMonth {
  spent: number;
  requestCount: number;
}

interface AccountRow {
  balance: number;
  held: number;
  granted: number;
  spent: number;
  request_count: number;
}

/** Reads the ledger; a tenant without an account has no credits. */
@Injectable()
export class BalanceReader {
  constructor(private readonly database: Database) {}

  async balanceOf(tenantId: string): Promise<AccountBalance> {
    const { rows } = await this.database.query<AccountRow>(
      'SELECT balance, held, granted, spent, request_count FROM accounts WHERE tenant_id = $1',
      [tenantId],
    );
    const row = rows[0] ?? { balance: 0, held: 0, granted: 0, spent: 0, request_count: 0 };
    return {
      balance: row.balance,
      held: row.held,
      available: row.balance - row.held,
      granted: row.granted,
      spent: row.spent,
      requestCount: row.request_count,
    };
  }

  /** `month` may be any time in the month. */
  async monthOf(tenantId: string, month: Date): Promise<AccountMonth> {
    const { rows } = await this.database.query<Pick<AccountRow, 'spent' | 'request_count'>>(
      'SELECT spent, request_count FROM account_months WHERE tenant_id = $1 AND month = $2',
      [tenantId, firstDayOf(month)],
    );
    return { spent: rows[0]?.spent ?? 0, requestCount: rows[0]?.request_count ?? 0 };
  }

  /**
   * Returns the balance changes by grants, corrections and refunds per day (UTC) from `since` on,
   * in signed credits; omits days without any. These entries are few and indexed.
   *
   * @returns by day, such as `2026-11-23`
   */
  async addedByDay(tenantId: string, since: Date): Promise<Map<string, number>> {
    const { rows } = await this.database.query<{ day: string; added: number }>(
      `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
         sum(amount)::bigint AS added
       FROM ledger_entries
       WHERE tenant_id = $1 AND kind <> 'charge' AND kind <> 'shortfall' AND created_at >= $2
       GROUP BY 1`,
      [tenantId, since],
    );
    return new Map(rows.map(({ day, added }) => [day, added]));
  }

  /**
   * Returns how much of a key's monthly spend limit is used: payments of the key and the keys below
   * it, plus the reservations of their running requests. `month` may be any time in the month.
   */
  async usedByKey(apiKeyId: string, month: Date): Promise<number> {
    const { rows } = await this.database.query<{ used: number }>(
      `SELECT coalesce((
          SELECT spent FROM key_months WHERE api_key_id = $1 AND month = $2
        ), 0) + coalesce((
          SELECT sum(amount)::bigint FROM key_holds JOIN holds USING (request_id)
          WHERE key_holds.api_key_id = $1
        ), 0) AS used`,
      [apiKeyId, firstDayOf(month)],
    );
    return rows[0]?.used ?? 0;
  }

  /**
   * Returns the tightest monthly spend limit of each key, its own or one above it, with its use;
   * omits keys without a limit. `month` may be any time in the month.
   */
  async spendLimitsOf(apiKeyIds: readonly string[], month: Date): Promise<KeySpendLimit[]> {
    const { rows } = await this.database.query<KeySpendLimit>(
      `SELECT DISTINCT ON (api_keys.id) api_keys.id, above.monthly_spend_limit AS "limit",
         coalesce(key_months.spent, 0) AS spent, open.held
       FROM api_keys CROSS JOIN LATERAL unnest(api_keys.id || api_keys.ancestor_ids) AS chain (id)
         JOIN api_keys AS above ON above.id = chain.id AND above.monthly_spend_limit IS NOT NULL
         LEFT JOIN key_months ON key_months.api_key_id = above.id AND key_months.month = $2
         CROSS JOIN LATERAL (
           SELECT coalesce(sum(amount), 0)::bigint AS held FROM key_holds JOIN holds USING (request_id)
           WHERE key_holds.api_key_id = above.id
         ) AS open
       WHERE api_keys.id = ANY ($1)
       ORDER BY api_keys.id, above.monthly_spend_limit - coalesce(key_months.spent, 0) - open.held`,
      [apiKeyIds, firstDayOf(month)],
    );
    return rows;
  }
}

/** A key's monthly spend limit in credits. */
export interface KeySpendLimit {
  readonly id: string;
  readonly limit: number;
  /** Spent in the month under this limit. */
  readonly spent: number;
  /** Reserved for open requests. */
  readonly held: number;
}

function firstDayOf(month: Date): string {
  return `${month.toISOString().slice(0, 7)}-01`;
}
