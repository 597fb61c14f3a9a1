/** Log columns that series and corrections are built from. */
export const SERIES_COLUMNS = `
  tenant_id, api_key_id, endpoint, model, provider, status, tags, end_user, prompt_tokens,
  completion_tokens, cost, shortfall, vendor_cost, latency_ms, created_at`;

const SUMS = [
  'requests',
  'errors',
  'prompt_tokens',
  'completion_tokens',
  'cost',
  'shortfall',
  'vendor_cost',
  'latency_ms',
] as const;

/** Sum columns of series and groups. */
export const SERIES_SUMS = SUMS.join(', ');
/** Adds these columns up. */
export const SUM_OF_SUMS = SUMS.map((name) => `sum(${name})::bigint AS ${name}`).join(', ');
/** Computes these sums from log rows with a `sign`. */
export const SUM_OF_ROWS = `
  sum(sign)::bigint AS requests,
  coalesce(sum(sign) FILTER (WHERE status = 'error'), 0)::bigint AS errors,
  sum(sign * prompt_tokens::bigint)::bigint AS prompt_tokens,
  sum(sign * completion_tokens::bigint)::bigint AS completion_tokens,
  sum(sign * cost)::bigint AS cost,
  sum(sign * shortfall)::bigint AS shortfall,
  coalesce(sum(sign * vendor_cost), 0)::bigint AS vendor_cost,
  sum(sign * latency_ms::bigint)::bigint AS latency_ms`;

/** Selects the sum columns of a table. */
export function sumsOf(table: string): string {
  return SUMS.map((name) => `${table}.${name}`).join(', ');
}

/**
 * Selects the sum columns, added or subtracted.
 *
 * @param signs further SQL factor
 */
export function signedSumsOf(table: string, sign: 1 | -1, signs?: string): string {
  const factor = `${sign < 0 ? '-' : ''}${signs === undefined ? '' : `${signs} * `}`;
  return SUMS.map((name) => `${factor}${table}.${name} AS ${name}`).join(', ');
}

/** Selects zero sums. */
export const NO_SUMS = SUMS.map((name) => `0::bigint AS ${name}`).join(', ');

/**
 * Selects refunds with what is known of their requests: of archived or swept ones only the tenant,
 * with the time of the refund.
 *
 * @param earliest no refund before this time concerns a requested row
 */
export const refundsSql = (earliest: string): string => `
  SELECT entry.tenant_id, api_key_id, endpoint, model, provider, status, tags, end_user,
    coalesce(log.created_at, entry.created_at) AS created_at, 'each' AS kind, log.request_id IS NULL AS is_rest,
    entry.amount AS refunded
  FROM ledger_entries AS entry LEFT JOIN request_logs AS log ON log.request_id = entry.request_id
  WHERE entry.kind = 'refund' AND entry.created_at >= ${earliest}`;

const ADDED = SUMS.map((name) => `${name} = existing.${name} + excluded.${name}`).join(', ');

const SAME = 'api_key_id, endpoint, model, provider, status';

/** Hashes a facet's value of any length. Both parameters are SQL. */
export const valueIdOf = (value: string, isRest = 'false'): string =>
  `md5(jsonb_build_array(${value}, ${isRest})::text)::uuid`;

/**
 * Selects a series' facets, one dimension each; `tag:<key>` besides. For tags, counts the requests
 * without any and those where it is unknown.
 */
const FACETS = `
  SELECT tenant_id, hour, 'end_user' AS facet, end_user AS value,
    is_rest AND kind = 'each' AND end_user IS NULL AS is_rest, ${SUM_OF_SUMS}
  FROM parts WHERE kind <> 'any' GROUP BY 1, 2, 3, 4, 5
  UNION ALL
  SELECT tenant_id, hour, facet, value, facets.is_rest, ${SUM_OF_SUMS}
  FROM parts CROSS JOIN LATERAL (
    VALUES ('all', NULL, false), ('model', model, false), ('provider', provider, false),
      ('route', provider || '/' || model, false), ('endpoint', endpoint, false),
      ('api_key', api_key_id::text, false), ('status', status, false)
    UNION ALL SELECT 'tags', NULL, parts.is_rest WHERE tags IS NULL
    UNION ALL SELECT 'tag:' || key, value, false FROM jsonb_each_text(tags)
  ) AS facets (facet, value, is_rest)
  WHERE kind <> 'each' GROUP BY 1, 2, 3, 4, 5`;

/**
 * Adds series of one hour each to their facets' sums.
 *
 * @param parts names the series
 */
const addToFacets = (parts: string): string => `
  INSERT INTO request_log_facet_sums AS existing (
    tenant_id, facet, grain, period, value_id, value, is_rest, ${SERIES_SUMS}
  )
  SELECT tenant_id, facet, grain, period, ${valueIdOf('value', 'is_rest')}, value, is_rest, ${SUM_OF_SUMS}
  FROM (${FACETS.replaceAll('FROM parts', `FROM ${parts} AS parts`)}) AS facets
    CROSS JOIN LATERAL (
      VALUES ('hour', hour), ('day', date_trunc('day', hour, 'UTC'))
    ) AS span (grain, period)
  GROUP BY tenant_id, facet, grain, period, value, is_rest
  ON CONFLICT (tenant_id, facet, grain, period, value_id) DO UPDATE SET ${ADDED}`;

/**
 * Returns the id of a series: a hash of its distinguishing columns. Callers cannot inject
 * separators or NULL.
 */
const idOf = (...columns: string[]): string =>
  `md5(jsonb_build_array(tenant_id, extract(epoch FROM month), kind, ${columns.join(', ')})::text)::uuid`;

/**
 * Adds the rows above $1 up to $2 and all corrections to their series and facets. Requires a lock
 * on the row of `request_log_progress`.
 *
 * A tenant's month has up to $3 series of a kind, plus one batch. Beyond that, new rows are summed
 * without tags, and with an end user without all other dimensions; beyond $4 also without the end
 * user. This keeps callers from filling the database with unique tags, while totals stay exact.
 */
export const ADD_TO_SERIES = `
  WITH corrected AS (
    DELETE FROM request_log_series_corrections RETURNING *
  ), facts AS MATERIALIZED (
    SELECT tenant_id, date_trunc('month', created_at, 'UTC') AS month,
      date_trunc('hour', created_at, 'UTC') AS hour, kind, ${SAME}, tags,
      CASE kind WHEN 'each' THEN end_user END AS end_user, ${SUM_OF_ROWS}
    FROM (
      SELECT 1 AS sign, ${SERIES_COLUMNS} FROM request_logs WHERE id > $1 AND id <= $2
      UNION ALL
      SELECT sign, ${SERIES_COLUMNS} FROM corrected
    ) AS rows
      JOIN (VALUES ('none', false), ('any', true), ('each', true)) AS kinds (kind, has_end_user)
        ON has_end_user = (end_user IS NOT NULL)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, tags, CASE kind WHEN 'each' THEN end_user END
  ), months AS MATERIALIZED (
    SELECT tenant_id, kind, month, (
      SELECT count(*) FROM request_log_series AS known
      WHERE known.tenant_id = months.tenant_id AND known.kind = months.kind
        AND known.month = months.month
    ) AS series
    FROM (SELECT DISTINCT tenant_id, kind, month FROM facts) AS months
  ), named AS MATERIALIZED (
    SELECT facts.*, months.series AS known,
      ${idOf(SAME, 'tags', 'end_user', 'false')} AS full_id,
      CASE kind WHEN 'each' THEN ${idOf('end_user', 'true')} ELSE ${idOf(SAME, 'true')} END AS less_id
    FROM facts JOIN months USING (tenant_id, kind, month)
  ), placed AS MATERIALIZED (
    SELECT named.*, CASE
        WHEN known < $3 OR EXISTS (SELECT FROM request_log_series WHERE id = full_id) THEN 'full'
        WHEN kind <> 'each' OR known < $4
          OR EXISTS (SELECT FROM request_log_series WHERE id = less_id) THEN 'less'
        ELSE 'least'
      END AS detail
    FROM named
  ), reduced AS MATERIALIZED (
    SELECT tenant_id, month, hour, kind,
      CASE detail WHEN 'full' THEN full_id WHEN 'less' THEN less_id ELSE ${idOf('true')} END AS series,
      CASE WHEN kind <> 'each' OR detail = 'full' THEN api_key_id END AS api_key_id,
      CASE WHEN kind <> 'each' OR detail = 'full' THEN endpoint END AS endpoint,
      CASE WHEN kind <> 'each' OR detail = 'full' THEN model END AS model,
      CASE WHEN kind <> 'each' OR detail = 'full' THEN provider END AS provider,
      CASE WHEN kind <> 'each' OR detail = 'full' THEN status END AS status,
      CASE detail WHEN 'full' THEN tags END AS tags,
      CASE WHEN detail <> 'least' THEN end_user END AS end_user,
      detail <> 'full' AS is_rest, ${SERIES_SUMS}
    FROM placed
  ), summed AS (
    INSERT INTO request_log_series_sums AS existing (
      tenant_id, kind, grain, period, series, ${SERIES_SUMS}
    )
    SELECT tenant_id, kind, grain, period, series, ${SUM_OF_SUMS}
    FROM reduced
      CROSS JOIN LATERAL (
        VALUES ('hour', hour), ('day', date_trunc('day', hour, 'UTC'))
      ) AS span (grain, period)
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, kind, grain, period, series) DO UPDATE SET ${ADDED}
  ),
  faceted AS (${addToFacets('reduced')}
  )
  INSERT INTO request_log_series AS existing (
    id, tenant_id, month, kind, ${SAME}, tags, end_user, is_rest, ${SERIES_SUMS}
  )
  SELECT series, tenant_id, month, kind, ${SAME}, tags, end_user, is_rest, ${SUM_OF_SUMS}
  FROM reduced
  GROUP BY series, tenant_id, month, kind, ${SAME}, tags, end_user, is_rest
  ON CONFLICT (id) DO UPDATE SET ${ADDED}`;

/** Deletes the facet sums of the day $1. Requires a lock on the row of `request_log_progress`. */
export const CLEAR_FACETS = `
  DELETE FROM request_log_facet_sums
  WHERE grain IN ('hour', 'day') AND period >= $1 AND period < $1::timestamptz + interval '1 day'`;

/** Rebuilds them from the series. */
export const MAKE_FACETS = `
  WITH known AS MATERIALIZED (
    SELECT DISTINCT tenant_id, kind FROM request_log_series WHERE month = date_trunc('month', $1::timestamptz, 'UTC')
  ), parts AS MATERIALIZED (
    SELECT part.tenant_id, part.kind, period AS hour, ${SAME}, tags, end_user, is_rest,
      ${SUMS.map((name) => `part.${name}`).join(', ')}
    FROM known CROSS JOIN LATERAL (
      SELECT * FROM request_log_series_sums AS each
      WHERE each.tenant_id = known.tenant_id AND each.kind = known.kind AND grain = 'hour'
        AND period >= $1 AND period < $1::timestamptz + interval '1 day' OFFSET 0
    ) AS part JOIN request_log_series AS series ON series.id = part.series
  )
  ${addToFacets('parts')}`;
