import { DEAD_AFTER_SECONDS } from '../ledger/instance.service.js';
import { scopeIsLive } from '../access/scope.js';
import type { AlertKind } from './alert.js';
import { BUDGETS } from './budget-query.js';

/** Maximum deliveries per rule and evaluation; further events are recorded without a delivery. */
const MAX_DELIVERIES = 20;

/** Number of past weeks whose same hours define what is usual. */
const WEEKS = 4;

/** Rules about one tenant: its own, or the operator's. */
const OF_ONE = (kind: AlertKind) => `rule.is_enabled AND rule.kind = '${kind}'
  AND rule.watched_tenant_id IS NOT NULL`;
const OF_ALL = (kind: AlertKind) => `rule.is_enabled AND rule.kind = '${kind}'
  AND rule.watched_tenant_id IS NULL`;

const LOW = `account.balance < (rule.condition->>'credits')::bigint`;
const BALANCE = `rule.id AS rule_id, account.tenant_id::text AS subject,
  rule.condition->>'credits' AS threshold, NULL AS period,
  jsonb_build_object('tenant_id', account.tenant_id, 'balance', account.balance,
    'credits', rule.condition->'credits') AS detail`;

/** Balances below a limit, except of tenants that were never granted credits. */
const BALANCE_BELOW = `
  SELECT ${BALANCE}
  FROM alert_rules rule JOIN accounts account ON account.tenant_id = rule.watched_tenant_id
  WHERE ${OF_ONE('balance_below')} AND ${LOW}
  UNION ALL
  SELECT ${BALANCE} FROM alert_rules rule JOIN accounts account ON ${LOW}
    JOIN tenants ON tenants.id = account.tenant_id AND deleted_at IS NULL
  WHERE ${OF_ALL('balance_below')} AND account.granted > 0`;

const PERCENT_SPENT = `(was_refused OR watched.spent * 100 >= watched.credits * threshold::integer)`;

/** The key of a rule's scope and its child keys. */
const KEYS_OF_SCOPE = `SELECT id FROM api_keys
  WHERE id = rule.scope_key_id OR rule.scope_key_id = ANY (ancestor_ids)`;

/** The budgets of the watched tenants, their keys and end users. */
const BUDGET = `
  WITH budget AS MATERIALIZED (${BUDGETS}
  ), watched AS (
    SELECT budget.*, rule.id AS rule_id, rule.condition FROM alert_rules rule
      JOIN budget ON budget.tenant_id = rule.watched_tenant_id
    WHERE ${OF_ONE('budget')} AND (rule.scope_key_id IS NULL OR budget.scope = 'api_key'
      AND budget.id IN (SELECT id::text FROM (${KEYS_OF_SCOPE}) AS keys))
    UNION ALL
    SELECT budget.*, rule.id, rule.condition FROM alert_rules rule
      CROSS JOIN budget WHERE ${OF_ALL('budget')}
  )
  SELECT rule_id, subject, threshold, period_key AS period,
    jsonb_build_object('tenant_id', tenant_id, 'scope', scope, 'scope_id', watched.id,
      'budget_period', watched.period, 'percent', threshold::integer, 'spent', spent,
      'credits', credits) AS detail
  FROM watched CROSS JOIN LATERAL jsonb_array_elements_text(condition->'thresholds') AS threshold
  WHERE (condition->>'scope' IS NULL OR condition->>'scope' = scope)
    AND (condition->>'scope_id' IS NULL OR condition->>'scope_id' = watched.id)
    AND ${PERCENT_SPENT}`;

const SEEN = `sum(requests)::bigint AS requests, sum(errors)::bigint AS errors`;
const SEEN_IN_LOG = `count(*) FILTER (WHERE outcome NOT IN ('refused', 'cancelled')) AS requests,
  count(*) FILTER (WHERE outcome IN ('failed', 'timeout', 'crashed')) AS errors`;
const IN_WINDOW = `minute > $1::timestamptz - make_interval(mins => (rule.condition->>'window_minutes')::integer)
  AND (rule.condition->>'provider' IS NULL OR provider = rule.condition->>'provider')`;

/** The share of failed requests, without rejected and cancelled ones. */
const ERROR_RATE = `
  SELECT rule.id AS rule_id, coalesce(rule.watched_tenant_id::text, '') AS subject,
    rule.condition->>'percent' AS threshold, NULL AS period,
    jsonb_build_object('tenant_id', rule.watched_tenant_id, 'provider', rule.condition->'provider',
      'requests', requests, 'errors', errors, 'percent', round(100.0 * errors / requests, 1),
      'window_minutes', rule.condition->'window_minutes') AS detail
  FROM (
    SELECT rule.*, requests, errors FROM alert_rules rule CROSS JOIN LATERAL (
      SELECT ${SEEN} FROM alert_minutes WHERE tenant_id = rule.watched_tenant_id AND ${IN_WINDOW}
    ) AS seen WHERE ${OF_ONE('error_rate')} AND scope_key_id IS NULL
    UNION ALL
    SELECT rule.*, requests, errors FROM alert_rules rule CROSS JOIN LATERAL (
      SELECT ${SEEN_IN_LOG} FROM request_logs
       WHERE tenant_id = rule.watched_tenant_id AND api_key_id IN (${KEYS_OF_SCOPE})
         AND created_at > $1::timestamptz - interval '2 hours' AND created_at <= $1::timestamptz
         AND ${IN_WINDOW.replace('minute', "created_at + latency_ms * interval '1 ms'")}
    ) AS seen WHERE ${OF_ONE('error_rate')} AND scope_key_id IS NOT NULL
    UNION ALL
    SELECT rule.*, requests, errors FROM alert_rules rule CROSS JOIN LATERAL (
      SELECT ${SEEN} FROM alert_minutes WHERE ${IN_WINDOW}
    ) AS seen WHERE ${OF_ALL('error_rate')}
  ) AS rule
  WHERE requests >= greatest((rule.condition->>'min_requests')::integer, 1)
    AND errors * 100 >= requests * (rule.condition->>'percent')::integer`;

const floorOf = `(rule.condition->>'floor_credits')::bigint`;

const THIS_HOUR = `date_trunc('hour', $1::timestamptz, 'UTC')`;
/** The two hours that the last 60 minutes touch, in each of the past weeks. */
const SAME_HOURS = Array.from({ length: WEEKS }, (_, index) => index + 1)
  .flatMap((week) => [0, 1].map((back) => `${THIS_HOUR} - interval '${week} weeks ${back} hours'`))
  .join(', ');

/**
 * Spend of the last hour, compared with the same hours of past weeks: the median over the weeks of the
 * more expensive of the two hours (UTC) that the last one touches. Weeks before the tenant was created
 * do not count; without any, only the floor applies.
 */
const SPEND_UNUSUAL = `
  WITH spent AS MATERIALIZED (
    SELECT tenant_id AS spender, sum(cost)::bigint AS spent FROM alert_minutes
    WHERE minute > $1::timestamptz - interval '1 hour'
      AND (EXISTS (SELECT FROM alert_rules rule WHERE ${OF_ALL('spend_unusual')})
        OR tenant_id IN (SELECT watched_tenant_id FROM alert_rules rule WHERE ${OF_ONE('spend_unusual')}))
    GROUP BY 1
    HAVING sum(cost) >= (
      SELECT min(${floorOf}) FROM alert_rules rule WHERE rule.is_enabled AND rule.kind = 'spend_unusual'
    )
  ), seen AS MATERIALIZED (
    SELECT spent.*, usual FROM spent JOIN tenants ON tenants.id = spender CROSS JOIN LATERAL (
      SELECT coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(highest, 0)), 0) AS usual
      FROM generate_series(1, ${WEEKS}) AS week LEFT JOIN (
        SELECT floor(extract(epoch FROM ${THIS_HOUR} - period) / 604800)::integer AS week, max(cost) AS highest
        FROM request_log_roll_ups
        WHERE tenant_id = spender AND dimension = 'all' AND grain = 'hour'
          AND period = ANY (ARRAY[${SAME_HOURS}])
        GROUP BY 1
      ) AS known USING (week)
      WHERE ${THIS_HOUR} - make_interval(weeks => week) >= date_trunc('hour', tenants.created_at, 'UTC')
    ) AS weeks
  )
  SELECT rule.id AS rule_id, rule.spender::text AS subject, rule.condition->>'factor' AS threshold,
    NULL AS period,
    jsonb_build_object('tenant_id', rule.spender, 'spent', rule.spent, 'usual', usual,
      'factor', rule.condition->'factor', 'floor_credits', rule.condition->'floor_credits') AS detail
  FROM (
    SELECT rule.id, rule.condition, seen.* FROM alert_rules rule
      JOIN seen ON spender = rule.watched_tenant_id WHERE ${OF_ONE('spend_unusual')}
    UNION ALL
    SELECT rule.id, rule.condition, seen.* FROM alert_rules rule CROSS JOIN seen
      WHERE ${OF_ALL('spend_unusual')}
  ) AS rule
  WHERE rule.spent >= ${floorOf} AND rule.spent > usual * (rule.condition->>'factor')::integer`;

/** Providers that, themselves or with some models, fail according to a running process's heartbeat. */
const VENDOR_UNHEALTHY = `
  SELECT rule.id AS rule_id, vendor.provider AS subject, 'unhealthy' AS threshold, NULL AS period,
    jsonb_build_object('provider', vendor.provider, 'models', jsonb_path_query_array(models, '$[0 to 19]'), 'instances', instances) AS detail
  FROM alert_rules rule JOIN (
    SELECT provider, count(DISTINCT id) AS instances,
      coalesce(jsonb_agg(DISTINCT model) FILTER (WHERE model IS NOT NULL), '[]') AS models
    FROM instances CROSS JOIN jsonb_to_recordset(live->'failing') AS each (provider text, model text)
    WHERE heartbeat_at > $1::timestamptz - make_interval(secs => ${DEAD_AFTER_SECONDS}) GROUP BY 1
  ) AS vendor
    ON rule.condition->>'provider' IS NULL OR rule.condition->>'provider' = vendor.provider
  WHERE rule.is_enabled AND rule.kind = 'vendor_unhealthy'`;

const ROUTE_PAUSED = `
  SELECT rule.id AS rule_id, pause.provider || coalesce('/' || pause.model, '') AS subject,
    'paused' AS threshold, NULL AS period,
    jsonb_build_object('provider', pause.provider, 'model', pause.model, 'reason', pause.reason,
      'paused_by', pause.paused_by, 'paused_until', pause.paused_until) AS detail
  FROM alert_rules rule JOIN route_pauses pause
    ON rule.condition->>'provider' IS NULL OR rule.condition->>'provider' = pause.provider
  WHERE rule.is_enabled AND rule.kind = 'route_paused'
    AND (pause.paused_until IS NULL OR pause.paused_until > $1::timestamptz)`;

/** Findings of the latest price check by name: the number of models, and the first of them by id. */
const pricesFound = (kind: AlertKind, name: string) => `
  SELECT rule.id AS rule_id, '' AS subject, '${name}' AS threshold, NULL AS period,
    jsonb_build_object('rows', found->'rows', 'models', found->'models') AS detail
  FROM alert_rules rule CROSS JOIN price_checks CROSS JOIN LATERAL (SELECT findings->'${name}' AS found) AS found
  WHERE rule.is_enabled AND rule.kind = '${kind}' AND (found->>'rows')::integer > 0`;

/** Conditions met at $1, by kind: rule_id, subject, threshold, period (null: a state), detail. */
const CURRENT: Readonly<Record<AlertKind, string>> = {
  balance_below: BALANCE_BELOW,
  budget: BUDGET,
  vendor_unhealthy: VENDOR_UNHEALTHY,
  route_paused: ROUTE_PAUSED,
  error_rate: ERROR_RATE,
  spend_unusual: SPEND_UNUSUAL,
  prices_stale: pricesFound('prices_stale', 'stale'),
  prices_differ: pricesFound('prices_differ', 'differ'),
};

const SAME = (one: string, other: string) => `${one}.rule_id = ${other}.rule_id
  AND ${one}.subject = ${other}.subject AND ${one}.threshold = ${other}.threshold`;

const COLUMNS = `rule_id, tenant_id, rule_name, kind, status, subject, threshold, period, is_open, detail,
  created_at, state, last_error, finished_at`;

/**
 * Records events of the kind $2 for conditions newly met at $1 and for states that ended, with their
 * deliveries. A rule notifies once per period; for a state that comes and goes, that is the hour. Returns
 * the ids of the deliveries to make.
 */
export function recordEvents(kind: AlertKind): string {
  return `
    WITH current AS MATERIALIZED (${CURRENT[kind]}
    ), fresh AS (
      SELECT current.*, rule.tenant_id, rule.name,
        row_number() OVER (PARTITION BY rule.id ORDER BY current.subject) <= ${MAX_DELIVERIES} AS is_delivered
      FROM current JOIN alert_rules rule ON rule.id = current.rule_id
      WHERE ${scopeIsLive('rule.scope_key_id')} AND NOT EXISTS (
          SELECT FROM alert_events known WHERE ${SAME('known', 'current')} AND known.is_open
        ) AND NOT EXISTS (
          SELECT FROM alert_events known WHERE ${SAME('known', 'current')} AND known.status = 'firing'
            AND known.period = coalesce(current.period, ${hourOf('$1')})
        )
    ), opened AS (
      INSERT INTO alert_events (${COLUMNS})
      SELECT rule_id, tenant_id, name, $2, 'firing', subject, threshold,
        coalesce(period, ${hourOf('$1')}), period IS NULL, detail, $1::timestamptz,
        CASE WHEN is_delivered THEN 'pending' ELSE 'dropped' END,
        CASE WHEN NOT is_delivered THEN 'more than ${MAX_DELIVERIES} events at once' END,
        CASE WHEN NOT is_delivered THEN now() END
      FROM fresh
      ON CONFLICT DO NOTHING
      RETURNING id, state
    ), closed AS (
      UPDATE alert_events known SET is_open = false
      WHERE known.is_open AND known.kind = $2
        AND NOT EXISTS (SELECT FROM current WHERE ${SAME('current', 'known')})
      RETURNING *
    ), resolved AS (
      INSERT INTO alert_events (${COLUMNS})
      SELECT rule_id, tenant_id, rule_name, kind, 'resolved', subject, threshold, period, false,
        detail || jsonb_build_object('fired_at', created_at), $1::timestamptz,
        CASE WHEN is_delivered THEN 'pending' ELSE 'dropped' END,
        CASE WHEN NOT is_delivered THEN last_error END, CASE WHEN NOT is_delivered THEN now() END
      FROM closed CROSS JOIN LATERAL (SELECT state <> 'dropped' OR attempts > 0 AS is_delivered) AS firing
      ON CONFLICT DO NOTHING
      RETURNING id, state
    )
    SELECT id FROM opened WHERE state = 'pending'
    UNION ALL SELECT id FROM resolved WHERE state = 'pending'`;
}

function hourOf(parameter: string): string {
  return `to_char(${parameter}::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24')`;
}

/**
 * Claims the evaluation for $1 (null: now), $2 seconds after the last one, by locking its row until the
 * end of the transaction. Returns no row while another process evaluates. An evaluation from the future
 * was made before the clock was corrected.
 */
export const CLAIM_EVALUATION = `
  SELECT coalesce($1, now()) AS now, counted_id, counted_at >= coalesce($1, now()) - interval '10 minutes' AS counts,
    rolled_up_id, ARRAY(SELECT DISTINCT kind FROM alert_rules WHERE is_enabled) AS kinds
  FROM alert_progress, request_log_progress
  WHERE looked_at <= coalesce($1, now()) - make_interval(secs => $2)
    OR looked_at > coalesce($1, now()) + interval '1 minute'
  FOR UPDATE OF alert_progress SKIP LOCKED`;

/** Records the evaluation at $1, and that the log is counted up to $2; null: not counted. */
export const FINISH_EVALUATION = `
  UPDATE alert_progress SET looked_at = $1::timestamptz, counted_id = coalesce($2, counted_id),
    counted_at = CASE WHEN $2::bigint IS NULL THEN counted_at ELSE $1::timestamptz END`;

/** Counts the log rows above $2 up to $3 in the minutes in which they ended, $1 at the latest. */
export const COUNT_MINUTES = `
  INSERT INTO alert_minutes AS existing (tenant_id, minute, provider, requests, errors, cost)
  SELECT tenant_id, date_trunc('minute', least($1::timestamptz, created_at + latency_ms * interval '1 ms')),
    provider, count(*) FILTER (WHERE outcome NOT IN ('refused', 'cancelled')),
    count(*) FILTER (WHERE outcome IN ('failed', 'timeout', 'crashed')), sum(cost)
  FROM request_logs
  WHERE id > $2 AND id <= $3 AND created_at + latency_ms * interval '1 ms' > $1::timestamptz - interval '2 hours'
  GROUP BY 1, 2, 3
  ON CONFLICT (tenant_id, minute, provider) DO UPDATE SET
    requests = existing.requests + excluded.requests, errors = existing.errors + excluded.errors,
    cost = existing.cost + excluded.cost`;

export const DELETE_MINUTES = `
  DELETE FROM alert_minutes WHERE minute < $1::timestamptz - interval '2 hours'`;
