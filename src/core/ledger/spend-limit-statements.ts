/**
 * What the keys $1 and the tenants $2 that have a monthly limit have spent in this month (UTC); of
 * keys, their open holds count as spent. The accounts must be locked. Lines of holds that have
 * ended are cleared away.
 */
export const READ_SPEND_LIMITS = {
  name: 'ledger-read-spend-limits',
  text: `
    WITH month AS (
      SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date AS month
    ), cleared AS (
      DELETE FROM key_holds WHERE api_key_id = ANY ($1::uuid[])
        AND NOT EXISTS (SELECT FROM holds WHERE holds.request_id = key_holds.request_id)
    )
    SELECT 'key' AS scope, id, monthly_spend_limit AS spend_limit,
      coalesce(spent, 0) + (
        SELECT coalesce(sum(holds.amount), 0)::bigint
        FROM key_holds JOIN holds ON holds.request_id = key_holds.request_id
        WHERE key_holds.api_key_id = api_keys.id
      ) AS used
    FROM api_keys CROSS JOIN month
      LEFT JOIN key_months ON key_months.api_key_id = id AND key_months.month = month.month
    WHERE id = ANY ($1::uuid[]) AND monthly_spend_limit IS NOT NULL
    UNION ALL
    SELECT 'tenant', id, monthly_spend_limit, coalesce(spent, 0)
    FROM tenants CROSS JOIN month
      LEFT JOIN account_months
        ON account_months.tenant_id = id AND account_months.month = month.month
    WHERE id = ANY ($2::uuid[]) AND monthly_spend_limit IS NOT NULL`,
};

export interface SpendLimitRow {
  scope: 'key' | 'tenant';
  id: string;
  /** Credits. */
  spend_limit: number;
  /** Credits; of a tenant without its open holds. */
  used: number;
}

/** Notes which holds $2 count against the limits of which keys $1. */
export const OPEN_KEY_HOLDS = {
  name: 'ledger-open-key-holds',
  text: `
    INSERT INTO key_holds (api_key_id, request_id)
    SELECT * FROM unnest($1::uuid[], $2::uuid[])
    ON CONFLICT DO NOTHING`,
};
