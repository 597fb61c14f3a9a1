/** Generates millions of log and ledger rows in PostgreSQL, as years of calls would leave them. */
import { BYOK_FEE_PERCENT, lowerEnds, seededRoutes } from './routes.mjs';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const DAYS = 90;
const CHUNK = 120_000;
/** Grants at the start of a month exceed its cost by this factor. */
const GRANTED_ABOVE = 1.1;
/** Half a working day of vendor downtime, and how many days ago it was. */
const OUTAGE = { provider: 'openai', daysAgo: 12, hours: 3 };

/**
 * Fills the log and the ledger of the last 90 days, and all totals.
 *
 * @param pool of `pg`
 * @param tenants `{id, keys, weight, users, balanceDays}` of each: key ids, share of the rows, number of end
 *   users, and for how many days its balance lasts
 */
export async function seedRows(pool, { rows, tenants, until = new Date() }) {
  const endMs = until.getTime() - 5 * 60_000;
  const hours = hourlyCounts(rows, endMs);
  await prepare(pool, tenants, endMs);
  const chunks = chunked(hours);
  // Two in parallel, for the two cores of a small machine, each for its own time span.
  await Promise.all([0, 1].map((half) => fillChunks(pool, chunks, half, endMs)));
  await addGuardrailEvents(pool);
  await addUp(pool, endMs);
  await pool.query('DROP TABLE seed_tenants, seed_routes');
}

/** More in working hours than at night and on weekends, and twice as many at the end as 90 days before. */
function hourlyCounts(rows, endMs) {
  const firstMs = Math.floor((endMs - DAYS * DAY_MS) / HOUR_MS) * HOUR_MS + HOUR_MS;
  const hours = [];
  for (let startMs = firstMs; startMs < endMs; startMs += HOUR_MS) {
    const date = new Date(startMs);
    const isWeekend = [0, 6].includes(date.getUTCDay());
    const daylight = 1 + 0.8 * Math.sin(((date.getUTCHours() - 8) / 24) * 2 * Math.PI);
    const growth = 1 + (startMs - firstMs) / (DAYS * DAY_MS);
    const length = Math.min(HOUR_MS, endMs - startMs) / HOUR_MS;
    hours.push({ startMs, length, weight: daylight * growth * length * (isWeekend ? 0.45 : 1) });
  }
  const total = hours.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  return hours.map((hour) => {
    const from = Math.round((before / total) * rows);
    before += hour.weight;
    return { ...hour, count: Math.round((before / total) * rows) - from };
  });
}

function chunked(hours) {
  const chunks = [[]];
  let size = 0;
  for (const hour of hours) {
    if (size + hour.count > CHUNK && size > 0) {
      chunks.push([]);
      size = 0;
    }
    chunks.at(-1).push(hour);
    size += hour.count;
  }
  return chunks;
}

async function prepare(pool, tenants, endMs) {
  const { rows: routes, sheets } = seededRoutes();
  const json = (value) => [JSON.stringify(value)];
  await pool.query(
    `SELECT make_month_partitions(($1::timestamptz - interval '${DAYS} days')::date)`,
    [new Date(endMs)],
  );
  await pool.query('DROP TABLE IF EXISTS seed_tenants, seed_routes');
  await pool.query(
    `CREATE TABLE seed_tenants AS SELECT * FROM jsonb_to_recordset($1) AS seed (
       n integer, id uuid, keys uuid[], users integer, "balanceDays" float8, "from" float8)`,
    json(withLowerEnds(tenants)),
  );
  await pool.query(
    `CREATE TABLE seed_routes AS SELECT * FROM jsonb_to_recordset($1) AS seed (
       n integer, model text, endpoint text, provider text, asked_first text, base_ms integer,
       token_ms integer, prompt bigint, cache_read bigint, completion bigint, sheet uuid, own_sheet uuid,
       "from" float8)`,
    json(withLowerEnds(routes)),
  );
  await pool.query('ANALYZE seed_tenants, seed_routes');
  for (const [id, sheet] of sheets) {
    await pool.query(
      'INSERT INTO price_sheets (id, sheet) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [id, sheet],
    );
  }
}

function withLowerEnds(weighted) {
  const ends = lowerEnds(weighted.map(({ weight }) => weight));
  return weighted.map((each, index) => ({ ...each, n: index + 1, from: ends[index] }));
}

async function fillChunks(pool, chunks, half, endMs) {
  const client = await pool.connect();
  try {
    // The same rows on each run, except ids. They need not survive a power failure.
    await client.query(`SELECT setseed($1)`, [half === 0 ? 0.25 : 0.75]);
    await client.query(`SET synchronous_commit = off; SET work_mem = '256MB'`);
    const middle = Math.ceil(chunks.length / 2);
    for (const hours of half === 0 ? chunks.slice(0, middle) : chunks.slice(middle)) {
      await client.query(FILL, [
        hours.map(({ startMs }) => new Date(startMs)),
        hours.map(({ count }) => count),
        hours.map(({ length }) => length),
        new Date(endMs - OUTAGE.daysAgo * DAY_MS),
      ]);
    }
  } finally {
    await client.query('RESET ALL');
    client.release();
  }
}

/** A random id that encodes its month like `mintRequestId`. */
const REQUEST_ID = `(
  '6d6f6e74-' || left(mark, 4) || '-4' || right(mark, 3) || '-' || substr(gen_random_uuid()::text, 20)
)::uuid`;
const MARK = `lpad(to_hex(
  ((extract(year FROM month)::integer - 2020) * 12 + extract(month FROM month)::integer - 1) * 262144
  + floor(extract(epoch FROM at - month AT TIME ZONE 'UTC') / (31 * 86400.0 / 262144))::integer
), 7, '0')`;

const FILL = `
  WITH draw AS (
    SELECT hour + make_interval(secs => 3600 * length * (g - random()) / count) AS at,
      random() AS who, random() AS what, random() AS luck, random() AS size, random() AS pace,
      random() AS person, random() AS rare
    FROM unnest($1::timestamptz[], $2::integer[], $3::float8[]) AS hours (hour, count, length),
      generate_series(1, count) AS g
  ), asked AS (
    SELECT draw.*, date_trunc('month', at AT TIME ZONE 'UTC') AS month,
      tenant.id AS tenant_id, tenant.keys, route.*,
      CASE WHEN person < 0.65 THEN floor(person / 0.65 * tenant.users)::integer END AS user_number,
      tenant.n = 1 AND route.provider = 'openai' AND rare < 0.05 AS is_own,
      CASE WHEN route.provider = '${OUTAGE.provider}' AND at >= $4
             AND at < $4::timestamptz + interval '${OUTAGE.hours} hours' THEN 0.5 ELSE 0.018 END AS risk
    FROM draw
      JOIN seed_tenants AS tenant ON tenant.n = width_bucket(who, (SELECT array_agg("from" ORDER BY n) FROM seed_tenants))
      JOIN seed_routes AS route ON route.n = width_bucket(what, (SELECT array_agg("from" ORDER BY n) FROM seed_routes))
  ), used AS (
    SELECT asked.*, ${MARK} AS mark, keys[1 + coalesce(user_number, floor(rare * 1000)::integer) % cardinality(keys)] AS key,
      coalesce(user_number, 0) AS group_number,
      CASE WHEN luck >= risk THEN CASE WHEN luck > 0.992 THEN 'cancelled' ELSE 'completed' END
           WHEN luck > risk * 0.12 THEN 'failed' WHEN luck > risk * 0.05 THEN 'timeout' ELSE 'refused' END AS outcome,
      CASE WHEN luck >= risk THEN 40 + floor(5200 * size * size * size)::integer ELSE 0 END AS prompt_tokens,
      CASE WHEN luck >= risk AND token_ms > 0 THEN 8 + floor(900 * pace * pace)::integer ELSE 0 END AS completion_tokens
    FROM asked
  ), priced AS (
    SELECT used.*, CASE WHEN luck >= risk AND rare > 0.7 THEN prompt_tokens / 2 ELSE 0 END AS cached
    FROM used
  ), charged AS (
    SELECT priced.*, ((
        (prompt_tokens - cached) * prompt + cached * cache_read + completion_tokens * completion + 999999999999
      ) / 1000000000000)::bigint AS price,
      (base_ms * (0.6 + size) + (CASE WHEN asked_first IS NULL THEN 0 ELSE 1200 END))::integer AS first_ms
    FROM priced
  ), log AS (
    INSERT INTO request_logs (
      request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome, error_type,
      finish_reason, traffic_mode, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens,
      reasoning_tokens, usage_source, cost, model_charge, byok_platform_fee, managed_tool_fee, streamed,
      flagged, latency_ms, generation_time_ms, first_token_ms, vendor_cost, vendor_started_ms, attempts,
      end_user, tags, created_at, price_sheet, config_version)
    SELECT ${REQUEST_ID}, tenant_id, key, endpoint, model, provider,
      CASE WHEN outcome IN ('completed', 'cancelled') THEN 'success' ELSE 'error' END, outcome,
      CASE outcome WHEN 'failed' THEN CASE WHEN rare < 0.4 THEN 'rate_limit_error' ELSE 'provider_error' END
        WHEN 'timeout' THEN 'timeout_error' WHEN 'refused' THEN 'insufficient_credits' END,
      CASE WHEN outcome <> 'completed' OR token_ms = 0 THEN NULL WHEN pace > 0.97 THEN 'length'
        WHEN rare > 0.85 THEN 'tool_calls' ELSE 'stop' END,
      CASE WHEN is_own THEN 'byok' ELSE 'shared' END, prompt_tokens, completion_tokens, cached, 0, 0,
      CASE outcome WHEN 'completed' THEN 'upstream' WHEN 'cancelled' THEN 'estimated' ELSE 'none' END,
      fee + CASE WHEN is_own THEN 0 ELSE price * paid END, CASE WHEN is_own THEN 0 ELSE price * paid END, fee, 0,
      token_ms > 0 AND person < 0.6, rare < 0.004, first_ms + completion_tokens * token_ms,
      completion_tokens * token_ms, CASE WHEN luck >= risk THEN first_ms END,
      CASE WHEN is_own THEN 0 ELSE price * paid END,
      CASE WHEN luck >= risk AND asked_first IS NULL THEN 2 + floor(rare * 6)::integer END,
      CASE WHEN outcome = 'failed' THEN jsonb_build_array(jsonb_build_object(
          'route', provider || '/' || model, 'outcome', CASE WHEN rare < 0.4 THEN 'rate_limited' ELSE 'failed' END,
          'status', CASE WHEN rare < 0.4 THEN 429 ELSE 503 END, 'started_ms', 3, 'duration_ms', first_ms, 'vendor_cost', 0))
        WHEN luck >= risk AND asked_first IS NOT NULL THEN jsonb_build_array(jsonb_build_object(
          'route', asked_first || '/' || model, 'outcome', 'failed', 'status', 503, 'started_ms', 3, 'duration_ms', 1150,
          'vendor_cost', 0), jsonb_build_object('route', provider || '/' || model, 'outcome', 'answered', 'status', 200,
          'started_ms', 1160, 'duration_ms', first_ms + completion_tokens * token_ms - 1160, 'vendor_cost', price)) END,
      'user-' || lpad(user_number::text, 4, '0'),
      jsonb_build_object('team', (ARRAY['growth', 'support', 'search', 'platform', 'research'])[1 + group_number % 5],
        'feature', (ARRAY['chat', 'summaries', 'triage', 'drafts'])[1 + group_number / 5 % 4]),
      at, CASE WHEN luck < risk THEN NULL WHEN is_own THEN own_sheet ELSE sheet END,
      1
    FROM charged CROSS JOIN LATERAL (SELECT (luck >= risk)::integer AS paid) AS payment
      CROSS JOIN LATERAL (SELECT CASE WHEN is_own THEN (price * ${BYOK_FEE_PERCENT} + 99) / 100 * paid ELSE 0 END AS fee) AS fees
    RETURNING tenant_id, cost, request_id, created_at
  )
  INSERT INTO ledger_entries (tenant_id, kind, amount, request_id, created_at)
  SELECT tenant_id, 'charge', -cost, request_id, created_at FROM log WHERE cost > 0`;

/** Flagged requests were matched by one of the tenant's guardrails, a third of them in the answer. */
async function addGuardrailEvents(pool) {
  await pool.query(`
    INSERT INTO guardrail_events (tenant_id, guardrail_id, request_id, action, direction, created_at)
    SELECT log.tenant_id, rail.id, request_id, rail.action,
      CASE WHEN 'output' = ANY (rail.applies_to) AND latency_ms % 3 = 0 THEN 'output' ELSE rail.applies_to[1] END,
      log.created_at
    FROM request_logs AS log JOIN LATERAL (
      SELECT * FROM guardrails WHERE guardrails.tenant_id = log.tenant_id AND action <> 'block'
      ORDER BY md5(guardrails.id::text || log.request_id::text) LIMIT 1
    ) AS rail ON true
    WHERE log.flagged AND NOT EXISTS (SELECT FROM guardrail_events AS event WHERE event.request_id = log.request_id)
    ORDER BY log.created_at`);
  await pool.query(`
    UPDATE guardrails SET trigger_count = events, last_triggered_at = last FROM (
      SELECT guardrail_id, count(*) AS events, max(created_at) AS last FROM guardrail_events GROUP BY 1
    ) AS found WHERE guardrail_id = guardrails.id`);
}

/** Adds grants that cover the spend and some more days, and totals of keys, months and accounts. */
async function addUp(pool, endMs) {
  await pool.query(`
    CREATE TEMP TABLE seed_sums AS
    SELECT tenant_id, api_key_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date AS month,
      sum(cost)::bigint AS cost, count(*) AS requests, max(created_at) AS last
    FROM request_logs GROUP BY 1, 2, 3`);
  await pool.query(`
    UPDATE api_keys SET request_count = sums.requests, total_spend = sums.cost, last_used_at = sums.last FROM (
      SELECT api_key_id, sum(requests) AS requests, sum(cost) AS cost, max(last) AS last FROM seed_sums GROUP BY 1
    ) AS sums WHERE sums.api_key_id = api_keys.id`);
  await pool.query(`
    INSERT INTO key_months (api_key_id, month, spent)
    SELECT api_key_id, month, sum(cost) FROM seed_sums GROUP BY 1, 2
    ON CONFLICT (api_key_id, month) DO UPDATE SET spent = excluded.spent`);
  await pool.query(`
    INSERT INTO account_months (tenant_id, month, spent, request_count)
    SELECT tenant_id, month, sum(cost), sum(requests) FROM seed_sums GROUP BY 1, 2
    ON CONFLICT (tenant_id, month) DO UPDATE SET spent = excluded.spent, request_count = excluded.request_count`);
  await pool.query(
    `INSERT INTO ledger_entries (tenant_id, kind, amount, memo, created_at)
     SELECT tenant_id, 'grant', greatest(1, ceil(sum(cost) * ${GRANTED_ABOVE})::bigint),
       'Prepayment ' || to_char(month, 'YYYY-MM'), greatest(month::timestamp AT TIME ZONE 'UTC', $1::timestamptz)
     FROM seed_sums JOIN seed_tenants ON seed_tenants.id = tenant_id GROUP BY tenant_id, month`,
    [new Date(endMs - DAYS * DAY_MS)],
  );
  // Sets the balance to last as many days as configured at the pace of the last month.
  await pool.query(`
    WITH pace AS (
      SELECT tenant.id, "balanceDays" * sum(cost) / ${DAYS} AS target,
        (SELECT sum(amount) FROM ledger_entries WHERE ledger_entries.tenant_id = tenant.id) AS balance
      FROM seed_tenants AS tenant JOIN seed_sums ON seed_sums.tenant_id = tenant.id GROUP BY 1, "balanceDays"
    )
    INSERT INTO ledger_entries (tenant_id, kind, amount, memo, created_at)
    SELECT id, 'correction', round(target - balance)::bigint, 'Balance carried over from the system of before', now()
    FROM pace WHERE round(target - balance)::bigint <> 0`);
  await pool.query(`
    UPDATE accounts SET granted = sums.granted, spent = sums.spent, balance = sums.granted - sums.spent,
      request_count = coalesce(sums.requests, 0)
    FROM (
      SELECT accounts.tenant_id,
        coalesce((SELECT sum(amount) FROM ledger_entries AS entry
          WHERE entry.tenant_id = accounts.tenant_id AND kind IN ('grant', 'correction')), 0)::bigint AS granted,
        coalesce((SELECT sum(cost) FROM seed_sums WHERE seed_sums.tenant_id = accounts.tenant_id), 0)::bigint AS spent,
        (SELECT sum(requests) FROM seed_sums WHERE seed_sums.tenant_id = accounts.tenant_id)::bigint AS requests
      FROM accounts
    ) AS sums WHERE sums.tenant_id = accounts.tenant_id`);
  await pool.query('DROP TABLE seed_sums');
}
