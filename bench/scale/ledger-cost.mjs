/**
 * What the ledger's statements cost in PostgreSQL, by the size of their group, on one table and on
 * partitions of months: the figures that `capacity.mjs` and docs/scaling.md rest on.
 *
 *   npm run build && node bench/scale/ledger-cost.mjs [rounds]
 *
 * Makes databases of its own. One connection, nobody else: a time is that of the statement from Node
 * and back, the median of 200 rounds unless told otherwise, and so an upper bound of a core's work.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { MIGRATIONS } from '../../dist/src/app/migrations.js';
import { toLogRow } from '../../dist/src/core/ledger/ledger-rows.js';
import { QUICK_HOLD, QUICK_SETTLE } from '../../dist/src/core/ledger/quick-statements.js';
import { migrateDatabase } from '../../dist/src/platform/database/migrate-database.js';
import { startEmbeddedPostgres } from '../../dist/src/platform/database/embedded-postgres.js';
import { mintRequestId } from '../../dist/src/platform/http/request-id.js';

const ROUNDS = Number(process.argv[2] ?? 200);
const SIZES = [1, 10, 50];
const MONTHS = 24;
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
  for (const size of SIZES) {
    const times = { hold: [], settle: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const group = tenants
        .slice(0, size)
        .map((tenant) => ({ ...tenant, id: isOneTable ? randomUUID() : mintRequestId() }));
      times.hold.push(await timed(() => client.query(holdOf(group))));
      times.settle.push(await timed(() => client.query(settleOf(group, isOneTable))));
    }
    line.push(`${size}: hold ${median(times.hold)} ms, settle ${median(times.settle)} ms`);
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

const SHARED = { endpoint: 'chat', model: 'vendor/model', provider: 'vendor', streamed: false };

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

async function timed(work) {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function median(values) {
  return values.sort((left, right) => left - right)[Math.floor(values.length / 2)].toFixed(2);
}
