import { BUDGET_PERIODS } from '../../canonical/limits.js';

/** Percentage above which a budget that rejects requests counts as spent. */
const NEARLY_ALL = 80;

const MONTH = `date_trunc('month', $1::timestamptz AT TIME ZONE 'UTC')::date`;

/** Formats of a budget's current period; `total` never renews. */
const NAMES = {
  hour: 'YYYY-MM-DD"T"HH24',
  day: 'YYYY-MM-DD',
  week: 'IYYY-"W"IW',
  month: 'YYYY-MM',
  total: '"total"',
} satisfies Record<(typeof BUDGET_PERIODS)[number], string>;

const byPeriod = (make: (period: (typeof BUDGET_PERIODS)[number]) => string): string =>
  `CASE period ${BUDGET_PERIODS.map((period) => `WHEN '${period}' THEN ${make(period)}`).join(' ')} END`;

/** Monthly spend limits, with their stored monthly sums. */
const SPEND_LIMITS = `
  SELECT 'tenant' AS scope, tenants.id::text AS id, tenants.id AS tenant_id, 'month' AS period,
    'tenant:' || tenants.id AS subject, to_char(month, 'YYYY-MM') AS period_key,
    monthly_spend_limit AS credits, spent, false AS was_refused
  FROM tenants JOIN account_months ON account_months.tenant_id = tenants.id
  WHERE monthly_spend_limit > 0 AND month = ${MONTH}
  UNION ALL
  SELECT 'api_key', api_keys.id::text, tenant_id, 'month', 'api_key:' || api_keys.id,
    to_char(month, 'YYYY-MM'), monthly_spend_limit, spent, false
  FROM api_keys JOIN key_months ON key_months.api_key_id = api_keys.id
  WHERE monthly_spend_limit > 0 AND revoked_at IS NULL AND month = ${MONTH}`;

/** Limit documents with budgets and their subjects, including end users without their own limits. */
const DOCUMENTS = `
  SELECT tenants.id AS tenant_id, 'tenant' AS scope, tenants.id::text AS id, document
  FROM tenants CROSS JOIN LATERAL (VALUES (limits), (operator_limits)) AS set (document)
  WHERE document ? 'budgets'
  UNION ALL
  SELECT tenant_id, 'api_key', api_keys.id::text, document
  FROM api_keys CROSS JOIN LATERAL (VALUES (limits), (operator_limits)) AS set (document)
  WHERE document ? 'budgets' AND revoked_at IS NULL
  UNION ALL
  SELECT tenant_id, 'end_user', end_user, limits FROM end_user_limits WHERE limits ? 'budgets'
  UNION ALL
  SELECT tenants.id, 'end_user', users.subject, tenants.end_user_limits
  FROM tenants JOIN (
    SELECT tenant_id, subject FROM budget_spend WHERE scope = 'end_user'
    UNION SELECT tenant_id, subject FROM limit_holds WHERE scope = 'end_user'
  ) AS users ON users.tenant_id = tenants.id
  WHERE end_user_limits ? 'budgets' AND NOT EXISTS (
    SELECT FROM end_user_limits own WHERE own.tenant_id = tenants.id AND own.end_user = users.subject
  )`;

/**
 * Selects every budget with its spend at $1: the ledger's stored sums plus requests that ended since. A
 * budget rejects what does not fit and is seldom spent to the last credit, so `was_refused` tells whether
 * one that is over 80 % spent rejected a request in the last minute.
 */
export const BUDGETS = `
  ${SPEND_LIMITS}
  UNION ALL
  SELECT scope, budget.id, tenant_id, period, concat_ws(':', scope, budget.id, period),
    ${byPeriod((period) => `to_char($1::timestamptz AT TIME ZONE 'UTC', '${NAMES[period]}')`)},
    credits, spent, spent < credits AND spent * 100 > credits * ${NEARLY_ALL} AND EXISTS (
      SELECT FROM request_logs log
      WHERE log.tenant_id = budget.tenant_id AND log.created_at > $1::timestamptz - interval '1 minute'
        AND outcome = 'refused' AND error_type = 'budget_exceeded' AND CASE scope
          WHEN 'api_key' THEN log.api_key_id::text = budget.id
          WHEN 'end_user' THEN log.end_user = budget.id ELSE true END
    )
  FROM (
    SELECT limited.*, coalesce(ended, 0) + CASE WHEN stored.counted_at >= period_start
      THEN ${byPeriod((period) => `stored."${period}"`)} ELSE 0 END AS spent
    FROM (
      SELECT tenant_id, scope, id, set->>'period' AS period, min((set->>'credits')::bigint) AS credits,
        CASE set->>'period' WHEN 'total' THEN '-infinity'
          ELSE date_trunc(set->>'period', $1::timestamptz, 'UTC') END AS period_start
      FROM (${DOCUMENTS}) AS documents CROSS JOIN LATERAL jsonb_array_elements(document->'budgets') AS set
      GROUP BY 1, 2, 3, 4, 6
    ) AS limited
      LEFT JOIN budget_spend stored
        ON stored.tenant_id = limited.tenant_id AND stored.scope = limited.scope AND stored.subject = limited.id
      LEFT JOIN LATERAL (
        SELECT sum(log.cost)::bigint AS ended
        FROM limit_holds line JOIN request_logs log ON log.request_id = line.request_id
        WHERE line.tenant_id = limited.tenant_id AND line.scope = limited.scope AND line.subject = limited.id
          AND greatest(line.opened_at, log.created_at + log.latency_ms * interval '1 ms') >= period_start
      ) AS since ON true
    WHERE credits > 0
  ) AS budget`;
