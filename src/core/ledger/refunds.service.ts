import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../platform/database/database.js';

/** A charge that may be refunded, with the decision. */
export interface RefundClaim {
  readonly tenantId: string;
  /** The request that was charged. */
  readonly requestId: string;
  /**
   * Decides whether to refund, within the refund's transaction and with the tenant's account locked. Its
   * writes are committed with the refund or not at all.
   */
  readonly decide: (client: PoolClient) => Promise<boolean>;
}

/**
 * Refunds settled charges, at most once per request. A refund is an entry of the month in which it
 * happens; the request's log row does not change.
 */
@Injectable()
export class RefundsService {
  constructor(private readonly database: Database) {}

  /** Returns the refunded credits; undefined when `decide` returned false. */
  refund({ tenantId, requestId, decide }: RefundClaim): Promise<number | undefined> {
    return this.database.transaction(async (client) => {
      // Every transaction locks the account before it moves credits.
      await client.query('SELECT FROM accounts WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
      if (!(await decide(client))) return undefined;
      const { rows } = await client.query<{ amount: number }>(REFUND, [tenantId, requestId]);
      return rows[0]?.amount ?? 0;
    });
  }
}

/**
 * Reads the charge from the entries, since the log row may have expired; the key's counters then stay
 * unchanged. The month's spend may become negative when the charge belongs to an earlier month.
 */
const REFUND = `
  WITH charged AS (
    SELECT $1::uuid AS tenant_id, $2::uuid AS request_id, -sum(amount)::bigint AS cost,
      (SELECT api_key_id FROM request_logs WHERE request_id = $2) AS api_key_id
    FROM ledger_entries
    WHERE tenant_id = $1 AND request_id = $2 AND kind IN ('charge', 'shortfall')
    HAVING sum(amount) < 0
  ), entry AS (
    INSERT INTO ledger_entries (tenant_id, kind, amount, request_id)
    SELECT tenant_id, 'refund', cost, request_id FROM charged
    ON CONFLICT (request_id, kind) WHERE request_id IS NOT NULL DO NOTHING
    RETURNING tenant_id, amount
  ), given_back AS (
    UPDATE accounts SET balance = balance + amount, spent = spent - amount
    FROM entry WHERE accounts.tenant_id = entry.tenant_id
  ), key AS (
    UPDATE api_keys SET total_spend = total_spend - amount
    FROM entry, charged WHERE api_keys.id = charged.api_key_id
  ), month AS (
    INSERT INTO account_months AS month (tenant_id, month, spent)
    SELECT tenant_id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, -amount FROM entry
    ON CONFLICT (tenant_id, month) DO UPDATE SET spent = month.spent + excluded.spent
  )
  SELECT amount FROM entry`;
