/** Ratio between the end and the start of a latency bucket. */
const GROWTH = 1.1;

/**
 * Computes the bucket of a latency in SQL, from 0 (less than 1 ms) to 226: bucket b begins at
 * 1.1^(b − 1) ms.
 */
export const LATENCY_BUCKET_SQL = `
  CASE WHEN latency_ms < 1 THEN 0
       ELSE 1 + floor(ln(latency_ms::float8) / ln(${GROWTH}::float8))::integer END`;
/** Log columns that sums and corrections are built from. */
export const FACT_COLUMNS = `
  tenant_id, api_key_id, model, provider, status, prompt_tokens, completion_tokens, cost,
  latency_ms, created_at`;

/**
 * Adds the rows above $1 up to $2 and all corrections to the sums. Requires a lock on the row of
 * `request_log_progress`.
 */
export const ROLL_UP = `
  WITH corrected AS (
    DELETE FROM request_log_corrections RETURNING *
  ), facts AS MATERIALIZED (
    SELECT tenant_id, api_key_id, model, provider, status,
      date_trunc('hour', created_at, 'UTC') AS hour, ${LATENCY_BUCKET_SQL} AS bucket,
      sum(sign)::bigint AS requests,
      coalesce(sum(sign) FILTER (WHERE status = 'error'), 0)::bigint AS errors,
      sum(sign * prompt_tokens::bigint)::bigint AS prompt_tokens,
      sum(sign * completion_tokens::bigint)::bigint AS completion_tokens,
      sum(sign * cost)::bigint AS cost,
      min(created_at) AS first_created_at, max(created_at) AS last_created_at
    FROM (
      SELECT 1 AS sign, ${FACT_COLUMNS} FROM request_logs WHERE id > $1 AND id <= $2
      UNION ALL
      SELECT sign, ${FACT_COLUMNS} FROM corrected
    ) AS rows
    GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), counted AS (
    INSERT INTO request_log_counts AS existing (
      tenant_id, hour, api_key_id, status, model, requests, first_created_at, last_created_at
    )
    SELECT tenant_id, hour, api_key_id, status, model, sum(requests), min(first_created_at),
      max(last_created_at)
    FROM facts GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, hour, api_key_id, status, md5(model)) DO UPDATE SET
      requests = existing.requests + excluded.requests,
      first_created_at = least(existing.first_created_at, excluded.first_created_at),
      last_created_at = greatest(existing.last_created_at, excluded.last_created_at)
  )
  INSERT INTO request_log_roll_ups AS existing (
    tenant_id, dimension, grain, period, value, requests, errors, prompt_tokens,
    completion_tokens, cost, latencies
  )
  SELECT tenant_id, dimension, grain, period, value, sum(requests), sum(errors),
    sum(prompt_tokens), sum(completion_tokens), sum(cost), latency_histogram(bucket, requests)
  FROM facts
    CROSS JOIN LATERAL (
      VALUES ('all', ''), ('model', model), ('provider', provider),
        ('api_key', api_key_id::text), ('status', status)
    ) AS facet (dimension, value)
    CROSS JOIN LATERAL (
      VALUES ('hour', hour), ('day', date_trunc('day', hour, 'UTC'))
    ) AS span (grain, period)
  GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (tenant_id, dimension, grain, period, md5(value)) DO UPDATE SET
    requests = existing.requests + excluded.requests,
    errors = existing.errors + excluded.errors,
    prompt_tokens = existing.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = existing.completion_tokens + excluded.completion_tokens,
    cost = existing.cost + excluded.cost,
    latencies = add_latencies(existing.latencies, excluded.latencies)`;

/**
 * Returns a percentile of a histogram by nearest rank: the middle of its bucket, off by at most 5
 * %.
 *
 * @param counts requests in each bucket
 * @param fraction above 0, at most 1
 * @returns milliseconds; undefined without requests
 */
export function latencyPercentile(
  counts: readonly (number | null)[],
  fraction: number,
): number | undefined {
  const total = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const rank = Math.max(1, Math.ceil(total * fraction));
  let seen = 0;
  for (const [bucket, count] of counts.entries()) {
    seen += count ?? 0;
    if (seen >= rank) return bucket === 0 ? 0 : Math.round(GROWTH ** (bucket - 0.5));
  }
  return undefined;
}
