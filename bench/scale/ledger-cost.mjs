/**
 * Measures the cost of the ledger's statements in PostgreSQL by group size, on monthly partitions. These
 * are the figures behind `capacity.mjs` and docs/scaling.md.
 *
 *   npm run build && node bench/scale/ledger-cost.mjs [rounds]
 *
 * Creates its own databases; needs Linux. A figure is the CPU time of the session's process for one
 * statement, averaged over 500 rounds by default. Other programs disturb it little.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { MIGRATIONS } from '../../dist/src/platform/database/migrations.js';
import { toLogRow } from '../../dist/src/core/ledger/ledger-rows.js';
import {
  QUICK_HOLD,
  QUICK_HOLD_ONE,
  QUICK_SETTLE,
  QUICK_SETTLE_ONE,
} from '../../dist/src/core/ledger/quick-statements.js';
import { migrateDatabase } from '../../dist/src/platform/database/migrate-database.js';
import { startEmbeddedPostgres } from '../../dist/src/platform/database/embedded-postgres.js';
import { mintRequestId } from '../../dist/src/platform/http/request-id.js';
import { completedRequest, SHARED } from './completed-request.mjs';

const ROUNDS = Number(process.argv[2] ?? 500);
const SIZES = [1, 10, 50];
const MONTHS = 24;
for (let time = 1; time <= 2; time++) {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-scale-'));
  await chmod(directory, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDirectory: directory });
  const client = new pg.Client({
    connectionString: postgres.url,
    options: '-c plan_cache_mode=force_generic_plan',
  });
  try {
    await measure(postgres.url, client);
  } finally {
    await client.end();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(url, client) {
  await migrateDatabase(url, MIGRATIONS);
  await client.connect();
  await client.query(
    `SELECT make_month_partitions((now() - interval '${MONTHS - 1} months')::date, now()::date)`,
  );
  const tenants = await makeTenants(client);
  const line = [`${MONTHS} months  `];
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  for (const size of SIZES) {
    const spentMs = { hold: 0, settle: 0 };
    let start;
    // Excludes planning and first access to pages.
    for (const isCounted of [false, true]) {
      const groups = Array.from({ length: isCounted ? ROUNDS : 20 }, () =>
        tenants.slice(0, size).map((tenant) => ({ ...tenant, id: mintRequestId() })),
      );
      start = await positionOfLog(client);
      const run = async (statementOf) => {
        const startMs = cpuMsOf(rows[0].pid);
        for (const group of groups) await client.query(statementOf(group));
        return cpuMsOf(rows[0].pid) - startMs;
      };
      spentMs.hold = (await run(holdOf)) / ROUNDS;
      spentMs.settle = (await run(settleOf)) / ROUNDS;
    }
    const bytes = (await positionOfLog(client)) - start;
    line.push(
      `${size}: hold ${spentMs.hold.toFixed(2)} ms, settle ${spentMs.settle.toFixed(2)} ms, WAL ${Math.round(bytes / ROUNDS / size)} bytes a request`,
    );
  }
  console.log(line.join('   '));
  await measurePlans(client, tenants[0]);
}

async function makeTenants(client) {
  const { rows } = await client.query(
    `WITH tenant AS (
       INSERT INTO tenants (name) SELECT 'tenant ' || n FROM generate_series(1, $1::integer) AS n RETURNING id
     ), account AS (
       INSERT INTO accounts (tenant_id, balance, granted)
       SELECT id, 1000000000, 1000000000 FROM tenant
     ), month AS (
       INSERT INTO account_months (tenant_id, month, spent, request_count)
       SELECT id, date_trunc('month', now() AT TIME ZONE 'UTC'), 0, 0 FROM tenant
     )
     INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
     SELECT id, 'routing', 'key', decode(md5(id::text), 'hex'), 'sk-', 600 FROM tenant
     RETURNING tenant_id, id AS api_key_id`,
    [Math.max(...SIZES)],
  );
  return rows;
}

function holdOf(group) {
  const [one, another] = group;
  if (!another) {
    const { endpoint, model, provider, streamed } = SHARED;
    const what = [endpoint, model, provider, streamed, new Date().toISOString()];
    const values = [one.tenant_id, one.id, 500, 500, 0, randomUUID(), one.api_key_id, ...what];
    return { ...QUICK_HOLD_ONE, values };
  }
  const holds = group.map(({ id, tenant_id, api_key_id }) => ({
    request_id: id,
    tenant_id,
    api_key_id,
    amount: 500,
    ...SHARED,
    created_at: new Date(),
  }));
  const accounts = group.map(({ tenant_id }) => ({ tenant_id, credits: 500 }));
  return { ...QUICK_HOLD, values: [JSON.stringify(accounts), JSON.stringify(holds), randomUUID()] };
}

function settleOf(group) {
  const charge = { modelCharge: 100, byokPlatformFee: 0, managedToolFee: 0 };
  const rows = group.map(({ id, tenant_id, api_key_id }) =>
    toLogRow(
      completedRequest({ requestId: id, tenantId: tenant_id, apiKeyId: api_key_id }, new Date()),
      { charge, cost: 100, shortfall: 0 },
    ),
  );
  const [row, another] = rows;
  if (!another) {
    const { request_id, tenant_id, api_key_id } = row;
    const values = [JSON.stringify(row), request_id, tenant_id, 100, api_key_id, new Date()];
    return { ...QUICK_SETTLE_ONE, values };
  }
  const accounts = group.map(({ tenant_id }) => ({ tenant_id, credits: 0 }));
  return {
    ...QUICK_SETTLE,
    values: [JSON.stringify(accounts), group.map(({ id }) => id), JSON.stringify(rows)],
  };
}

/** Returns PostgreSQL's own planning and execution times of queries by users. */
async function measurePlans(client, { tenant_id }) {
  const { rows: ids } = await client.query('SELECT request_id FROM request_logs LIMIT 1');
  const questions = {
    'by id': `SELECT * FROM request_logs WHERE tenant_id = '${tenant_id}' AND request_id = '${ids[0].request_id}'`,
    'a page': `SELECT * FROM request_logs WHERE tenant_id = '${tenant_id}' AND created_at < now()
      ORDER BY created_at DESC, id DESC LIMIT 100`,
    'the newest id': 'SELECT max(id) FROM request_logs',
  };
  for (const [name, sql] of Object.entries(questions)) {
    const times = { plan: [], run: [] };
    for (let round = 0; round < 20; round++) {
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`);
      const [{ 'Planning Time': plan, 'Execution Time': run }] = rows[0]['QUERY PLAN'];
      times.plan.push(plan);
      times.run.push(run);
    }
    console.log(
      `  ${name.padEnd(16)} planned in ${median(times.plan)} ms, run in ${median(times.run)} ms`,
    );
  }
}

async function positionOfLog(client) {
  const { rows } = await client.query(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`,
  );
  return rows[0].bytes;
}

/** Returns a process's CPU time, which Linux counts in nanoseconds. */
function cpuMsOf(pid) {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function median(values) {
  return values.sort((left, right) => left - right)[Math.floor(values.length / 2)].toFixed(2);
}
