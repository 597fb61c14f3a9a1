/**
 * Tests the migration to monthly partitions on a large installation under load of the previous version.
 *
 *   npm run build && node bench/scale/partitions.mjs [rows] [url of an empty database]
 *
 * Fills the previous schema with 5,000,000 log rows and as many ledger entries by default, migrates under
 * 100 requests a second, continues with requests of the previous version and then of this one, and prints
 * requests, failures, the longest request, the longest lock wait, and whether the books balance. Exits
 * with 1 when a request failed, a lock wait exceeded a second, or the books are wrong.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { MIGRATIONS } from '../../dist/src/platform/database/migrations.js';
import { toLogRow } from '../../dist/src/core/ledger/ledger-rows.js';
import { QUICK_HOLD, QUICK_SETTLE } from '../../dist/src/core/ledger/quick-statements.js';
import { migrateDatabase } from '../../dist/src/platform/database/migrate-database.js';
import { startEmbeddedPostgres } from '../../dist/src/platform/database/embedded-postgres.js';
import { mintRequestId } from '../../dist/src/platform/http/request-id.js';
import { completedRequest, SHARED } from './completed-request.mjs';
import { seconds, timed } from './timing.mjs';

const LOCK_LIMIT_MS = 1_000;
const REQUESTS_PER_SECOND = 100;
const TENANTS = 50;
const CHUNK = 250_000;
const ROWS = Number(process.argv[2] ?? 5_000_000);
/** How long requests run before the migration, and after it with ids of each version. */
const PHASE_MS = ROWS >= 1_000_000 ? 5_000 : 500;

/** Log columns added after the monthly partitions. */
const LATER_COLUMNS = [
  ...['first_token_ms', 'vendor_cost', 'vendor_started_ms', 'attempts', 'end_user', 'tags'],
  ...['price_sheet', 'other_usage', 'config_version'],
].join('|');

/** The previous version's statement, without those columns and `replaces_crash`. */
const SETTLE_OF_BEFORE = {
  name: 'settle-of-before',
  text: QUICK_SETTLE.text
    .replaceAll(new RegExp(`\\b(?:${LATER_COLUMNS}) = excluded\\.\\w+,\\s*`, 'g'), '')
    .replaceAll(
      new RegExp(`,\\s*(?:log\\.)?(?:${LATER_COLUMNS})\\b(?: \\w+)?(?=\\s*[,)\\n])`, 'g'),
      '',
    )
    .replace(/,\s+replaces_crash = true/, '')
    .replace('NOT replaces_crash AS is_new', 'xmax = 0 AS is_new'),
};

let postgres;
let directory;
let url = process.argv[3];
if (!url) {
  directory = await mkdtemp(join(tmpdir(), 'gateway-scale-'));
  await chmod(directory, 0o711);
  postgres = await startEmbeddedPostgres({ dataDirectory: directory });
  url = postgres.url;
}
const pool = new pg.Pool({
  connectionString: url,
  max: 8,
  options: '-c plan_cache_mode=force_generic_plan -c lock_timeout=5000',
});
// The embedded server stops while connections idle.
pool.on('error', () => undefined);
const watcher = new pg.Client({ connectionString: url });

/** Adds rows of the last six months in order of time, with their entries and totals. */
async function fill() {
  const startMs = performance.now();
  const { rows } = await pool.query(
    `WITH tenant AS (
       INSERT INTO tenants (name) SELECT 'tenant ' || n FROM generate_series(1, $1::integer) AS n RETURNING id
     ), key AS (
       INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
       SELECT id, 'routing', 'key', decode(md5(id::text), 'hex'), 'sk-', 600 FROM tenant
       RETURNING tenant_id, id
     )
     SELECT tenant_id, id AS api_key_id FROM key`,
    [TENANTS],
  );
  for (let start = 1; start <= ROWS; start += CHUNK) {
    await pool.query(
      `WITH log AS (
         INSERT INTO request_logs (
           request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome, traffic_mode,
           prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
           usage_source, cost, model_charge, byok_platform_fee, managed_tool_fee, streamed, latency_ms,
           generation_time_ms, created_at)
         SELECT gen_random_uuid(), ($1::uuid[])[1 + n % $3], ($2::uuid[])[1 + n % $3], 'chat',
           'vendor/model-' || n % 12, 'vendor-' || n % 3, 'success', 'completed', 'shared',
           100 + n % 900, n % 500, 0, 0, 0, 'upstream', 1 + n % 700, 1 + n % 700, 0, 0, n % 2 = 0,
           200 + (n * 7919) % 30000, 100, now() - make_interval(secs => (1 - n::float8 / $4) * 180 * 86400)
         FROM generate_series($5::bigint, $6::bigint) AS n
         RETURNING tenant_id, cost, request_id, created_at
       )
       INSERT INTO ledger_entries (tenant_id, kind, amount, request_id, created_at)
       SELECT tenant_id, 'charge', -cost, request_id, created_at FROM log`,
      [
        rows.map(({ tenant_id }) => tenant_id),
        rows.map(({ api_key_id }) => api_key_id),
        TENANTS,
        ROWS,
        start,
        Math.min(start + CHUNK - 1, ROWS),
      ],
    );
  }
  await pool.query(`
    INSERT INTO account_months (tenant_id, month, spent, request_count)
    SELECT tenant_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, -sum(amount), count(*)
    FROM ledger_entries GROUP BY 1, 2`);
  await pool.query(`
    WITH granted AS (
      INSERT INTO accounts (tenant_id, balance, granted, spent, request_count)
      SELECT tenant_id, 1000000000, sum(spent) + 1000000000, sum(spent), sum(request_count)
      FROM account_months GROUP BY 1 RETURNING tenant_id, granted
    )
    INSERT INTO ledger_entries (tenant_id, kind, amount) SELECT tenant_id, 'grant', granted FROM granted`);
  await pool.query('VACUUM ANALYZE');
  console.log(
    `${ROWS} log rows and ledger entries made in ${seconds(performance.now() - startMs)} s`,
  );
  return rows;
}

async function migrateUnderLoad(tenants) {
  const load = new Load(tenants);
  const locks = new LockWatch();
  load.start();
  locks.start();
  await pause(PHASE_MS);
  const before = load.sent;
  const migrationMs = await timed(() => migrateDatabase(url, MIGRATIONS));
  const during = load.sent - before;
  await pause(PHASE_MS);
  load.isOfNow = true;
  await pause(PHASE_MS);
  await load.stop();
  await locks.stop();

  const faults = await findFaults();
  const { rows } = await pool.query(
    `SELECT tableoid::regclass::text AS name, count(*) AS rows FROM request_logs GROUP BY 1 ORDER BY 1`,
  );
  console.log(`migrated in ${seconds(migrationMs)} s; ${during} requests began meanwhile`);
  console.log(`requests ${load.sent}, failures ${load.failures.length}`);
  console.log(
    `longest request ${load.longestMs.toFixed(0)} ms, longest wait for a lock ${locks.longestMs.toFixed(0)} ms`,
  );
  for (const { name, rows: count } of rows) console.log(`${name.padEnd(28)} ${count} rows`);
  console.log(`faults in the books: ${faults.length}`);
  for (const fault of [...load.failures.slice(0, 5), ...faults.slice(0, 5)]) console.log(fault);
  return load.failures.length === 0 && faults.length === 0 && locks.longestMs <= LOCK_LIMIT_MS;
}

/** Requests on a fixed schedule: a hold, its settlement, and a log query for every tenth. */
class Load {
  sent = 0;
  longestMs = 0;
  failures = [];
  isOfNow = false;
  instance = randomUUID();
  running = new Set();

  constructor(tenants) {
    this.tenants = tenants;
  }

  start() {
    const startMs = performance.now();
    this.timer = setInterval(() => {
      const due = ((performance.now() - startMs) * REQUESTS_PER_SECOND) / 1_000;
      while (this.sent < due) this.send();
    }, 5);
  }

  async stop() {
    clearInterval(this.timer);
    await Promise.all(this.running);
  }

  send() {
    const number = this.sent++;
    const startMs = performance.now();
    const run = this.request(number)
      .catch((error) => this.failures.push(`request ${number}: ${error.message}`))
      .finally(() => {
        this.longestMs = Math.max(this.longestMs, performance.now() - startMs);
        this.running.delete(run);
      });
    this.running.add(run);
  }

  async request(number) {
    const { tenant_id, api_key_id } = this.tenants[number % TENANTS];
    const request_id = this.isOfNow ? mintRequestId() : randomUUID();
    const settle = this.isOfNow ? QUICK_SETTLE : SETTLE_OF_BEFORE;
    const created_at = new Date();
    const hold = { request_id, tenant_id, api_key_id, amount: 500, ...SHARED, created_at };
    const charge = { modelCharge: 1 + (number % 400), byokPlatformFee: 0, managedToolFee: 0 };
    const ids = { requestId: request_id, tenantId: tenant_id, apiKeyId: api_key_id };
    await pool.query({
      ...QUICK_HOLD,
      values: [
        JSON.stringify([{ tenant_id, credits: 500 }]),
        JSON.stringify([hold]),
        this.instance,
      ],
    });
    const row = toLogRow(completedRequest(ids, created_at), {
      charge,
      cost: charge.modelCharge,
      shortfall: 0,
    });
    await pool.query({
      ...settle,
      values: [JSON.stringify([{ tenant_id, credits: 0 }]), [request_id], JSON.stringify([row])],
    });
    if (number % 10 !== 0) return;
    const found = await pool.query({
      name: 'look-up',
      text: 'SELECT cost FROM request_logs WHERE tenant_id = $1 AND request_id = $2',
      values: [tenant_id, request_id],
    });
    if (found.rows.length !== 1) throw new Error('its row is not found');
    const page = await pool.query({
      text: `SELECT * FROM request_logs WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC LIMIT 20`,
      values: [tenant_id],
    });
    if (page.rows.length !== 20) throw new Error(`its page has ${page.rows.length} rows`);
  }
}

/** Watches how long any session has waited for a table lock. */
class LockWatch {
  longestMs = 0;

  start() {
    this.watching = (async () => {
      while (!this.isStopped) {
        const { rows } = await watcher.query(
          `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart) * 1000), 0)::float8 AS ms
           FROM pg_locks WHERE NOT granted AND locktype = 'relation'`,
        );
        this.longestMs = Math.max(this.longestMs, rows[0].ms);
        await pause(10);
      }
    })();
  }

  async stop() {
    this.isStopped = true;
    await this.watching;
  }
}

/** Runs the statements of docs/ledger.md. */
async function findFaults() {
  const checks = {
    'a balance is not the sum of its entries': `
      SELECT FROM accounts LEFT JOIN (
        SELECT tenant_id, sum(amount) AS entries FROM ledger_entries GROUP BY tenant_id
      ) AS sums USING (tenant_id) WHERE balance <> coalesce(entries, 0) OR held <> 0`,
    'a month is not the sum of its entries': `
      SELECT FROM (
        SELECT tenant_id, month, spent AS amount FROM account_months
        UNION ALL
        SELECT tenant_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, sum(amount)
        FROM ledger_entries WHERE kind NOT IN ('grant', 'correction') GROUP BY 1, 2
      ) AS parts GROUP BY tenant_id, month HAVING sum(amount) <> 0`,
    'a log row has not the entry that it should have': `
      SELECT FROM request_logs AS log
      FULL JOIN (SELECT request_id, amount FROM ledger_entries WHERE kind = 'charge') AS entry
        USING (request_id)
      WHERE coalesce(log.cost, -1) <> coalesce(-entry.amount, -1)`,
    'requests are counted wrongly': `
      SELECT FROM accounts JOIN (
        SELECT tenant_id, count(*) AS rows FROM request_logs GROUP BY tenant_id
      ) AS log USING (tenant_id) WHERE request_count <> rows`,
  };
  const faults = [];
  for (const [name, sql] of Object.entries(checks)) {
    const { rowCount } = await pool.query(sql);
    if (rowCount > 0) faults.push(`${rowCount} × ${name}`);
  }
  return faults;
}

try {
  await watcher.connect();
  const last = MIGRATIONS.findIndex(({ name }) => name.startsWith('PartitionByMonth'));
  await migrateDatabase(url, MIGRATIONS.slice(0, last));
  const tenants = await fill();
  process.exitCode = (await migrateUnderLoad(tenants)) ? 0 : 1;
} finally {
  await pool.end();
  await watcher.end();
  await postgres?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
}
