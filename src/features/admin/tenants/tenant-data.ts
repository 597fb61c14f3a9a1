import { SERIES_SUMS, valueIdOf } from '../../../core/request-log/series-statements.js';

/**
 * Decides what happens to each table with a `tenant_id` when a tenant is deleted.
 * test/int/tenant-data.int-spec.ts fails for tables in neither list.
 */

/** Period totals minus the part without end user and tags. */
const LOST_SUMS = SERIES_SUMS.split(', ')
  .map((name) => `sum(CASE facet WHEN 'all' THEN ${name} ELSE -${name} END)::bigint`)
  .join(', ');

/** Statements that erase the data of tenant `$1`, in this order. */
export const ERASED: Readonly<Record<string, string>> = {
  api_keys: `
    UPDATE api_keys SET name = 'deleted', revoked_at = coalesce(revoked_at, now()), updated_at = now(),
      monthly_spend_limit = NULL, limits = NULL, operator_limits = NULL, content_log = NULL
    WHERE tenant_id = $1`,
  webhook_secrets: 'DELETE FROM webhook_secrets WHERE tenant_id = $1',
  webhook_deliveries: 'DELETE FROM webhook_deliveries WHERE tenant_id = $1',
  // Cascades to its deliveries.
  broadcast_destinations: 'DELETE FROM broadcast_destinations WHERE tenant_id = $1',
  provider_credentials: 'DELETE FROM provider_credentials WHERE tenant_id = $1',
  memberships: 'DELETE FROM memberships WHERE tenant_id = $1',
  invitations: 'DELETE FROM invitations WHERE tenant_id = $1',
  guardrails: 'DELETE FROM guardrails WHERE tenant_id = $1',
  guardrail_events: 'DELETE FROM guardrail_events WHERE tenant_id = $1',
  stored_responses: 'DELETE FROM stored_responses WHERE tenant_id = $1',
  conversations: `
    WITH gone AS (DELETE FROM conversations WHERE tenant_id = $1 RETURNING id)
    DELETE FROM conversation_items USING gone WHERE conversation_id = gone.id`,
  // Rows stay until the sweeper has removed their files. Marked as fetched, so that nothing is
  // refunded.
  jobs: `
    WITH emptied AS (
      UPDATE jobs SET body = '{}', metadata = NULL, end_user = NULL, tags = NULL, webhook_url = NULL, idempotency_key = NULL,
        error = NULL, usage = NULL, trace = NULL, routes = '[]', attempts = '[]', operation = NULL,
        webhook_due = false, fetched_at = coalesce(fetched_at, now()), expires_at = least(expires_at, now())
      WHERE tenant_id = $1 RETURNING id
    )
    UPDATE job_artifacts SET remove_after = now() FROM emptied
    WHERE job_id = emptied.id AND removed_at IS NULL`,
  // Includes operator rules about the tenant.
  alert_rules: 'DELETE FROM alert_rules WHERE tenant_id = $1 OR watched_tenant_id = $1',
  alert_events: 'DELETE FROM alert_events WHERE tenant_id = $1',
  // These name end users.
  end_user_limits: 'DELETE FROM end_user_limits WHERE tenant_id = $1',
  budget_spend: 'DELETE FROM budget_spend WHERE tenant_id = $1',
  limit_holds: 'DELETE FROM limit_holds WHERE tenant_id = $1',
  // Content still in memory on other instances is not stored after this.
  request_contents: `
    WITH closed AS (UPDATE tenants SET content_deleted_at = 'infinity' WHERE id = $1)
    DELETE FROM request_contents WHERE tenant_id = $1`,
  content_keys: 'DELETE FROM content_keys WHERE tenant_id = $1',
  // The stored responses contain memos.
  ledger_idempotency_keys: 'DELETE FROM ledger_idempotency_keys WHERE tenant_id = $1',
};

/** Tables that stay, with the reason. */
export const KEPT: Readonly<Record<string, string>> = {
  accounts: 'ledger; a correction removes the remaining balance',
  account_months: 'ledger',
  ledger_entries: 'ledger, append-only',
  request_logs: 'ledger; end users and tags are removed in batches, see `LOG_ROWS`',
  request_log_counts: 'sums over the log',
  request_log_roll_ups: 'sums over the log',
  request_log_corrections: 'sums over the log',
  request_log_series: 'sums over the log; end users and tags are removed with it',
  request_log_series_sums: 'sums over the log',
  request_log_facet_sums: 'sums over the log; end users and tags are removed with it',
  request_log_series_corrections:
    'corrections of sums; end users and tags are removed with the log',
  alert_minutes: 'sums over the last two hours of the log',
  holds: 'a tenant with holds cannot be deleted',
  background_responses: 'a tenant with background responses cannot be deleted',
  audit_log: 'append-only record of who did what',
};

/**
 * Removes end users and tags from a batch of log rows, newest first, and returns where the next
 * batch starts. Leaves corrections of the sums, which cancel out once both are anonymous.
 */
export const LOG_ROWS = `
  WITH piece AS MATERIALIZED (
    SELECT request_id, created_at, id FROM request_logs
    WHERE tenant_id = $1 AND (created_at, id) < ($2::timestamptz, $3::bigint)
    ORDER BY created_at DESC, id DESC LIMIT $4
  ), emptied AS (
    UPDATE request_logs SET end_user = NULL, tags = NULL FROM piece
    WHERE request_logs.request_id = piece.request_id
      AND (end_user IS NOT NULL OR tags IS NOT NULL)
  )
  SELECT created_at::text AS at, id::text AS id FROM piece ORDER BY created_at, id LIMIT 1`;

export const LOG_CORRECTIONS = `
  UPDATE request_log_series_corrections SET end_user = NULL, tags = NULL
  WHERE tenant_id = $1 AND (end_user IS NOT NULL OR tags IS NOT NULL)`;

/**
 * Moves values that can no longer be attributed to a NULL row with is_rest. For facets, everything
 * except the part without end user and tags. Runs in a transaction that blocks writers of the
 * sums.
 */
export const LOG_SUMS = [
  'SELECT FROM request_log_progress, (SELECT $1::uuid) AS tenant FOR UPDATE OF request_log_progress',
  `UPDATE request_log_series SET end_user = NULL, tags = NULL, is_rest = true
   WHERE tenant_id = $1 AND (end_user IS NOT NULL OR tags IS NOT NULL)`,
  `DELETE FROM request_log_facet_sums WHERE tenant_id = $1 AND (
     facet LIKE 'tag:%' OR facet IN ('end_user', 'tags') AND (is_rest OR value IS NOT NULL))`,
  `INSERT INTO request_log_facet_sums (
     tenant_id, facet, grain, period, value_id, is_rest, ${SERIES_SUMS}
   )
   SELECT tenant_id, lost, grain, period, ${valueIdOf('NULL::text', 'true')}, true, ${LOST_SUMS}
   FROM request_log_facet_sums CROSS JOIN (VALUES ('end_user'), ('tags')) AS each (lost)
   WHERE tenant_id = $1 AND facet IN ('all', lost) GROUP BY 1, 2, 3, 4
   HAVING sum(CASE facet WHEN 'all' THEN requests ELSE -requests END) > 0`,
];
