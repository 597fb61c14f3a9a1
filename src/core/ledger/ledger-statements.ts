import type { LogRow } from './ledger-rows.js';

/**
 * The statements of a ledger transaction. Rows travel as one JSON document each, which is cheaper to
 * encode and parse than an array per column. All are named, so that PostgreSQL plans them once per
 * connection.
 *
 * The lock is a separate statement: the next one gets a snapshot taken after it, and sees all earlier
 * changes of these accounts.
 */

export const BEGIN = { text: 'BEGIN' };

export const COMMIT = { text: 'COMMIT' };

/**
 * Locks the accounts of the tenants $1 in id order, then ends the holds $2. The count delays the
 * deletions until all locks are held. Returns accounts (`request_id` null) and ended holds.
 */
export const LOCK = {
  name: 'ledger-lock',
  text: `
    WITH locked AS MATERIALIZED (
      SELECT tenant_id, balance, held FROM accounts
      WHERE tenant_id = ANY ($1::uuid[])
      ORDER BY tenant_id
      FOR UPDATE
    ), ended AS (
      DELETE FROM holds
      WHERE request_id = ANY ($2::uuid[]) AND tenant_id = ANY ($1::uuid[])
        AND (SELECT count(*) FROM locked) >= 0
      RETURNING request_id, tenant_id, amount
    )
    SELECT NULL::uuid AS request_id, tenant_id, balance, held FROM locked
    UNION ALL
    SELECT request_id, tenant_id, 0, amount FROM ended`,
};

export interface LockRow {
  /** Null for an account. */
  request_id: string | null;
  tenant_id: string;
  balance: number;
  /** Credits in the account's holds, or in the ended hold. */
  held: number;
}

/** Opens accounts for those of the tenants $1 that exist without one. */
export const OPEN_ACCOUNTS = {
  name: 'ledger-open-accounts',
  text: `
    INSERT INTO accounts (tenant_id) SELECT id FROM tenants WHERE id = ANY ($1::uuid[])
    ON CONFLICT DO NOTHING`,
};

/**
 * Handles the uncommon cases, with the accounts of the tenants $4 locked: ends the holds $1, and returns
 * which of the holds $2 are open and which of the requests $3 have a log row.
 */
export const INSPECT = {
  name: 'ledger-inspect',
  text: `
    WITH ended AS (
      DELETE FROM holds WHERE request_id = ANY ($1::uuid[]) AND tenant_id = ANY ($4::uuid[])
      RETURNING request_id, tenant_id, amount
    )
    SELECT 'ended' AS found, request_id, tenant_id, amount AS credits, 0::bigint AS shortfall,
      '' AS outcome
    FROM ended
    UNION ALL
    SELECT 'open', request_id, tenant_id, amount, 0, '' FROM holds
    WHERE request_id = ANY ($2::uuid[]) AND tenant_id = ANY ($4::uuid[])
    UNION ALL
    SELECT 'logged', request_id, tenant_id, cost, shortfall, outcome FROM request_logs
    WHERE request_id = ANY ($3::uuid[]) AND tenant_id = ANY ($4::uuid[])`,
};

export interface InspectRow {
  found: 'ended' | 'open' | 'logged';
  request_id: string;
  tenant_id: string;
  credits: number;
  shortfall: number;
  outcome: string;
}

/** Columns and types of a log row's JSON document. */
const LOGGED: Readonly<Record<keyof LogRow, string>> = {
  request_id: 'uuid',
  tenant_id: 'uuid',
  api_key_id: 'uuid',
  endpoint: 'text',
  model: 'text',
  provider: 'text',
  outcome: 'text',
  error_type: 'text',
  finish_reason: 'text',
  traffic_mode: 'text',
  prompt_tokens: 'integer',
  completion_tokens: 'integer',
  cache_read_tokens: 'integer',
  cache_write_tokens: 'integer',
  reasoning_tokens: 'integer',
  usage_source: 'text',
  model_charge: 'bigint',
  byok_platform_fee: 'bigint',
  managed_tool_fee: 'bigint',
  shortfall: 'bigint',
  billing_note: 'text',
  streamed: 'boolean',
  flagged: 'boolean',
  latency_ms: 'integer',
  generation_time_ms: 'integer',
  first_token_ms: 'integer',
  vendor_cost: 'bigint',
  vendor_started_ms: 'integer',
  attempts: 'jsonb',
  end_user: 'text',
  tags: 'jsonb',
  created_at: 'timestamptz',
  price_sheet: 'uuid',
  other_usage: 'text',
  config_version: 'integer',
};
const LOG_COLUMNS = Object.keys(LOGGED).join(', ');
const TYPED_LOG_COLUMNS = Object.entries(LOGGED)
  .map(([column, type]) => `${column} ${type}`)
  .join(', ');
/** Columns of a `crashed` row that its replacement does not change. */
const KEPT_COLUMNS: ReadonlySet<string> = new Set([
  'request_id',
  'tenant_id',
  'api_key_id',
  'created_at',
]);
const REPLACED_COLUMNS = [...Object.keys(LOGGED), 'status', 'cost']
  .filter((column) => !KEPT_COLUMNS.has(column))
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');

/** Selects from a JSON document of one log row, or of several. */
export const logRow = (row: string): string =>
  `json_to_record(${row}) AS log (${TYPED_LOG_COLUMNS})`;
const logRows = (rows: string): string =>
  `json_to_recordset(${rows}) AS log (${TYPED_LOG_COLUMNS})`;

/** The part of a statement that writes log rows. */
export const insertLogs = (rows: string): string => `
      INSERT INTO request_logs AS existing (${LOG_COLUMNS}, status, cost)
      SELECT ${LOG_COLUMNS.replaceAll(/\w+/g, 'log.$&')},
        CASE WHEN outcome IN ('completed', 'cancelled') THEN 'success' ELSE 'error' END,
        model_charge + byok_platform_fee + managed_tool_fee
      FROM ${rows}`;

/**
 * The parts of a statement that write log rows and, for rows really written, ledger entries and counters.
 * Each request has one row. It replaces the `crashed` row of a request that a sweeper took for dead,
 * without being counted again.
 *
 * @param rows the log rows as a JSON document
 * @param condition when to write any
 */
export const writeLogs = (rows: string, condition: string): string => `
    written AS (${insertLogs(logRows(rows))}
      WHERE ${condition}
      ON CONFLICT (request_id) DO UPDATE SET
        ${REPLACED_COLUMNS},
        replaces_crash = true
      WHERE existing.outcome = 'crashed' AND existing.tenant_id = excluded.tenant_id
      RETURNING request_id, tenant_id, api_key_id, cost, shortfall, created_at,
        NOT replaces_crash AS is_new
    ), entries AS (
      INSERT INTO ledger_entries (tenant_id, kind, amount, request_id)
      SELECT tenant_id, 'charge', -(cost + shortfall), request_id FROM written
      WHERE cost + shortfall > 0
      UNION ALL
      SELECT tenant_id, 'shortfall', shortfall, request_id FROM written WHERE shortfall > 0
    ), used_keys AS (
      UPDATE api_keys SET
        request_count = api_keys.request_count + used.requests,
        total_spend = api_keys.total_spend + used.cost,
        last_used_at = greatest(api_keys.last_used_at, used.last_used_at)
      FROM (
        SELECT api_key_id, count(*) FILTER (WHERE is_new) AS requests, sum(cost)::bigint AS cost,
          max(created_at) AS last_used_at
        FROM written GROUP BY api_key_id
      ) AS used
      WHERE api_keys.id = used.api_key_id
    ), totals AS MATERIALIZED (
      SELECT tenant_id, count(*) FILTER (WHERE is_new) AS requests, sum(cost)::bigint AS cost
      FROM written GROUP BY tenant_id
    ), months AS (
      INSERT INTO account_months AS month (tenant_id, month, spent, request_count)
      SELECT tenant_id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, cost, requests
      FROM totals WHERE EXISTS (SELECT FROM tenants WHERE tenants.id = totals.tenant_id)
      ON CONFLICT (tenant_id, month) DO UPDATE SET
        spent = month.spent + excluded.spent,
        request_count = month.request_count + excluded.request_count
    )`;

/**
 * Writes the log rows $1 and releases the credits $2 of ended holds, which must list every tenant of a
 * log row.
 */
export const SETTLE = {
  name: 'ledger-settle',
  text: `
    WITH ${writeLogs('$1', 'true')}, charged AS (
      UPDATE accounts SET
        balance = accounts.balance - coalesce(totals.cost, 0),
        held = accounts.held - account.credits,
        spent = accounts.spent + coalesce(totals.cost, 0),
        request_count = accounts.request_count + coalesce(totals.requests, 0)
      FROM json_to_recordset($2) AS account (tenant_id uuid, credits bigint)
        LEFT JOIN totals ON totals.tenant_id = account.tenant_id
      WHERE accounts.tenant_id = account.tenant_id
    )
    SELECT request_id FROM written`,
};

export interface SettleRow {
  request_id: string;
}

/** Selects from a JSON document of holds. */
export const holdRows = (rows: string): string => `json_to_recordset(${rows}) AS hold (
        request_id uuid, tenant_id uuid, amount bigint, api_key_id uuid, endpoint text, model text,
        provider text, streamed boolean, created_at timestamptz, place integer, most bigint, base bigint
      )`;

/** The part of a statement that opens holds of an instance. */
export const openHolds = (rows: string, instance: string, condition: string): string => `
      INSERT INTO holds (
        request_id, tenant_id, instance_id, amount, api_key_id, endpoint, model, provider, streamed,
        created_at
      )
      SELECT request_id, tenant_id, ${instance}::uuid, amount, api_key_id, endpoint, model, provider,
        streamed, created_at
      FROM ${rows}
      WHERE ${condition}`;

/** Opens the holds $1 of the instance $2 and reserves the credits $3. */
export const OPEN_HOLDS = {
  name: 'ledger-open-holds',
  text: `
    WITH opened AS (${openHolds(holdRows('$1'), '$2', 'true')}
    )
    UPDATE accounts SET held = accounts.held + opened.credits
    FROM json_to_recordset($3) AS opened (tenant_id uuid, credits bigint)
    WHERE accounts.tenant_id = opened.tenant_id`,
};

/** Enlarges open holds; OPEN_HOLDS in the same transaction reserves the credits. */
export const ENLARGE_HOLDS = {
  name: 'ledger-enlarge-holds',
  text: `
    UPDATE holds SET amount = holds.amount + cover.credits
    FROM json_to_recordset($1) AS cover (request_id uuid, credits bigint)
    WHERE holds.request_id = cover.request_id`,
};
