/**
 * What the ledger's statements cost in PostgreSQL, by the size of their group, on one table and on
 * partitions of months: the figures that `capacity.mjs` and docs/scaling.md rest on.
 *
 *   npm run build && node bench/scale/ledger-cost.mjs [rounds]
 *
 * Makes databases of its own, on Linux. A figure is the CPU time of the session's process for one
 * statement, the mean of 500 rounds unless told otherwise, which other programs disturb little.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { MIGRATIONS } from '../../dist/src/app/migrations.js';
import { toLogRow } from '../../dist/src/core/ledger/ledger-rows.js';
import { QUICK_HOLD, QUICK_SETTLE } from '../../dist/src/core/ledger/quick-statements.js';
import { migrateDatabase } from '../../dist/src/platform/database/migrate-database.js';
import { startEmbeddedPostgres } from '../../dist/src/platform/database/embedded-postgres.js';
import { mintRequestId } from '../../dist/src/platform/http/request-id.js';

const ROUNDS = Number(process.argv[2] ?? 500);
const SIZES = [1, 10, 50];
const MONTHS = 24;
const SHARED = { endpoint: 'chat', model: 'vendor/model', provider: 'vendor', streamed: false };
const OF_BEFORE = {
  name: 'settle-of-before',
  text: QUICK_SETTLE.text
    .replace(/,\s+replaces_crash = true/, '')
    .replace('NOT replaces_crash AS is_new', 'xmax = 0 AS is_new'),
};

for (const kind of ['one table', `${MONTHS} months`, 'one table', `${MONTHS} months`]) {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-scale-'));
  await chmod(directory, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDirectory: directory });
  const client = new pg.Client({
    connectionString: postgres.url,
    options: '-c plan_cache_mode=force_generic_plan',
  });
  try {
    await measure(postgres.url, client, kind === 'one table');
  } finally {
    await client.end();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(url, client, isOneTable) {
  const last = MIGRATIONS.findIndex(({ name }) => name.startsWith('PartitionByMonth'));
  await migrateDatabase(url, isOneTable ? MIGRATIONS.slice(0, last) : MIGRATIONS);
  await client.connect();
  if (!isOneTable) {
    await client.query(
      `SELECT make_month_partitions((now() - interval '${MONTHS - 1} months')::date, now()::date)`,
    );
  }
  const tenants = await makeTenants(client);
  const line = [isOneTable ? 'one table  ' : `${MONTHS} months  `];
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  for (const size of SIZES) {
    const spentMs = { hold: 0, settle: 0 };
    let start;
    // What is planned once, and pages that are touched first, are not counted.
    for (const isCounted of [false, true]) {
      const groups = Array.from({ length: isCounted ? ROUNDS : 20 }, () =>
        tenants.slice(0, size).map((tenant) => ({
          ...tenant,
          id: isOneTable ? randomUUID() : mintRequestId(),
        })),
      );
      start = await positionOfLog(client);
      const run = async (statementOf) => {
        const startMs = cpuMsOf(rows[0].pid);
        for (const group of groups) await client.query(statementOf(group, isOneTable));
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
     )
     INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
     SELECT id, 'routing', 'key', decode(md5(id::text), 'hex'), 'sk-', 600 FROM tenant
     RETURNING tenant_id, id AS api_key_id`,
    [Math.max(...SIZES)],
  );
  return rows;
}

function holdOf(group) {
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

function settleOf(group, isOneTable) {
  const charge = { modelCharge: 100, byokPlatformFee: 0, managedToolFee: 0 };
  const rows = group.map(({ id, tenant_id, api_key_id }) =>
    toLogRow(
      {
        requestId: id,
        tenantId: tenant_id,
        apiKeyId: api_key_id,
        ...SHARED,
        outcome: 'completed',
        errorType: null,
        finishReason: 'stop',
        trafficMode: 'shared',
        usage: { inputTokens: 10, outputTokens: 5 },
        usageSource: 'upstream',
        billingNote: null,
        latencyMs: 10,
        generationTimeMs: 10,
        createdAt: new Date(),
      },
      { charge, cost: 100, shortfall: 0 },
    ),
  );
  const accounts = group.map(({ tenant_id }) => ({ tenant_id, credits: 0 }));
  const statement = isOneTable ? OF_BEFORE : QUICK_SETTLE;
  return {
    ...statement,
    values: [JSON.stringify(accounts), group.map(({ id }) => id), JSON.stringify(rows)],
  };
}

/** What PostgreSQL needs to plan and to run what people ask for, by its own account. */
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

/** User and system time of a process; Linux counts it in hundredths of a second. */
function cpuMsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function median(values) {
  return values.sort((left, right) => left - right)[Math.floor(values.length / 2)].toFixed(2);
}
