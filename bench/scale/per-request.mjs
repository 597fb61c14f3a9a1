/**
 * Measures whether the cost of a request is independent of scale: with 1 and many tenants, with an empty
 * and a long log; how many slow streams one process carries; and what a second worker adds.
 *
 *   npm run bench:scale              # 1,000 tenants, 200,000 log rows, 500 streams: about 3 minutes
 *   npm run bench:scale -- --full    # 10,000 tenants, 10,000,000 log rows, 5,000 streams: about 20
 *   npm run bench:scale -- --tenants 100 --rows 1000 --streams 50 --parts cost,streams,workers
 *
 * Prints a table; exits with status 1 when a stream or a response failed.
 */
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ensureBuilt } from '../../scripts/ensure-built.mjs';
import { measureLoad } from '../cpu-row.mjs';
import { Driver } from '../driver.mjs';
import { startGatewayTarget } from '../gateway-target.mjs';
import { measureStreams } from '../paced-row.mjs';
import { readTreeCpu } from '../process-tree.mjs';
import { startServer } from '../server-process.mjs';
import { median } from '../statistics.mjs';
import { toMarkdown } from '../table.mjs';
import { smallChat, streamedChat } from '../workloads.mjs';

const { values: options } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    tenants: { type: 'string' },
    rows: { type: 'string' },
    streams: { type: 'string' },
    parts: { type: 'string', default: 'cost,streams,workers' },
  },
});
const TENANTS = Number(options.tenants ?? (options.full ? 10_000 : 1_000));
const ROWS = Number(options.rows ?? (options.full ? 10_000_000 : 200_000));
const STREAMS = Number(options.streams ?? (options.full ? 5_000 : 500));
const ROUNDS = 5;
const ROUND_MS = 2_000;
const WARM_UP_MS = 8_000;
const CHUNK = 250_000;
/** Slow enough for two cores: with a chunk every 50 ms, a thousand streams take more than one. */
const SLOW_CHUNKS = 60;
const STREAMS_BEGIN_PER_MS = 0.25;
const MAX_STREAM_BYTES = 40_000;
const MAX_GROWTH = 1.1;
const MIN_SPEED_UP = 1.7;
const MOCK_UPSTREAM = fileURLToPath(new URL('../mock-upstream.mjs', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'gateway-scale-'));
// As root, the service runs PostgreSQL as another user, who needs access to the folder.
chmodSync(folder, 0o711);
const servers = [];
const programs = [];
const lines = [];
try {
  await ensureBuilt({ say: console.error });
  const upstream = await startServer([MOCK_UPSTREAM], { servers, logFile: join(folder, 'up.log') });
  const parts = { cost: measureCost, streams: measureManyStreams, workers: measureWorkers };
  for (const name of options.parts.split(',')) await parts[name](upstream.url);
  console.log(
    toMarkdown(lines, [
      ['what', ({ what }) => what],
      ['figure', ({ figure }) => figure],
      ['goal', ({ goal }) => goal],
    ]),
  );
} finally {
  for (const server of servers.reverse()) await server.stop();
  for (const program of programs) program.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function startGateway(upstreamUrl, workload, environment) {
  const place = mkdtempSync(join(folder, 'place-'));
  const models = [workload.alias];
  const target = await startGatewayTarget({
    servers,
    folder: place,
    upstreamUrl,
    models,
    environment,
  });
  return { target, dataDirectory: join(place, 'gateway', 'data') };
}

/** 32 concurrent requests from one tenant, then from all, each with an empty and a full log. */
async function measureCost(upstreamUrl) {
  const workload = smallChat('scale');
  const { target, dataDirectory } = await startGateway(upstreamUrl, workload);
  const client = new pg.Client(connectionTo(dataDirectory));
  await client.connect();
  try {
    const keys = await makeTenants(client);
    await warmUp(target, workload);
    const found = {};
    for (const rows of [0, ROWS]) {
      await fillLog(client, rows);
      await untilQuiet(target);
      for (const tenants of [1, TENANTS]) {
        const some = ofTenants(target, keys.slice(0, tenants));
        found[`${tenants}/${rows}`] = await measureRounds(some, workload, 32);
      }
    }
    const first = found['1/0'];
    for (const [of, { node, postgres }] of Object.entries(found)) {
      const [tenants, rows] = of.split('/').map((count) => Number(count).toLocaleString('en'));
      const growth = (node + postgres) / (first.node + first.postgres);
      lines.push({
        what: `CPU of a request, tenants: ${tenants}, log rows before: ${rows}`,
        figure: `${Math.round(node)} µs + PostgreSQL ${Math.round(postgres)} µs, ${growth.toFixed(2)} ×`,
        goal: `≤ ${MAX_GROWTH} ×: ${verdict(growth <= MAX_GROWTH)}`,
      });
    }
  } finally {
    await client.end();
    await target.server.stop();
  }
}

async function warmUp(target, workload) {
  const driver = new Driver(target, workload, { connections: 32 });
  await driver.closedLoop({ concurrency: 32, durationMs: WARM_UP_MS });
  await finish(driver);
}

async function measureRounds(target, workload, concurrency) {
  const driver = new Driver(target, workload, { connections: concurrency });
  await driver.closedLoop({ concurrency, durationMs: ROUND_MS });
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(await measureLoad(driver, { concurrency, durationMs: ROUND_MS }));
  }
  await finish(driver);
  const middle = (part) => median(rounds.map((one) => one[part]));
  return { node: middle('node'), postgres: middle('postgres'), perSecond: middle('perSecond') };
}

async function measureManyStreams(upstreamUrl) {
  const workload = streamedChat('slow-scale', SLOW_CHUNKS);
  const { target } = await startGateway(upstreamUrl, workload);
  const warmUp = new Driver(target, workload, { connections: 20 });
  await warmUp.parallelStreams({ streams: 20, rampMs: 100 });
  await finish(warmUp);
  const driver = new Driver(target, workload, { connections: STREAMS });
  const { failures, gapP99Ms, memory, node, events } = await measureStreams(
    driver,
    STREAMS,
    STREAMS / STREAMS_BEGIN_PER_MS,
  );
  const each = (memory.peak.node - memory.before.node) / STREAMS;
  const name = `${STREAMS.toLocaleString('en')} streams at once, a chunk every 500 ms`;
  lines.push(
    { what: `${name}: failures`, figure: String(failures), goal: `0: ${verdict(failures === 0)}` },
    {
      what: `${name}: memory of each`,
      figure: `${(each / 1_000).toFixed(1)} KB`,
      goal: `≤ ${MAX_STREAM_BYTES / 1_000} KB: ${verdict(each <= MAX_STREAM_BYTES)}`,
    },
    { what: `${name}: gap p99`, figure: `${gapP99Ms} ms` },
    { what: `${name}: CPU`, figure: `${((node * events) / STREAMS / 1_000).toFixed(1)} ms each` },
  );
  await finish(driver);
  await target.server.stop();
}

/**
 * Compares the throughput of two workers and one. Driver, upstream and PostgreSQL also need cores: with
 * fewer than six, the ratio shows what they leave, not what is possible.
 */
async function measureWorkers(upstreamUrl) {
  const redis = await startRedis();
  if (redis === undefined) {
    lines.push({ what: 'WORKERS=2 to WORKERS=1', figure: 'not measured: no redis-server' });
    return;
  }
  const workload = smallChat('workers');
  const perSecond = {};
  for (const workers of ['1', '2']) {
    const environment = { WORKERS: workers, REDIS_URL: redis };
    const { target } = await startGateway(upstreamUrl, workload, environment);
    await warmUp(target, workload);
    perSecond[workers] = (await measureRounds(target, workload, 64)).perSecond;
    await target.server.stop();
  }
  const speedUp = perSecond['2'] / perSecond['1'];
  const cores = availableParallelism();
  lines.push({
    what: `WORKERS=2 to WORKERS=1, requests/s, on ${cores} cores`,
    figure: `${Math.round(perSecond['2'])} to ${Math.round(perSecond['1'])}, ${speedUp.toFixed(2)} ×`,
    goal:
      cores < 6
        ? 'too few cores to tell'
        : `≥ ${MIN_SPEED_UP} ×: ${verdict(speedUp >= MIN_SPEED_UP)}`,
  });
}

/** The same server called with each of these keys in turn, without checking invoices. */
function ofTenants(target, keys) {
  let asked = 0;
  return {
    ...target,
    get apiKey() {
      return keys[asked++ % keys.length];
    },
    recordAnswer() {},
  };
}

/** @returns one key per tenant */
async function makeTenants(client) {
  const keys = Array.from(
    { length: TENANTS },
    (_, index) => `sk-scale-${index}-${hash('sha1', folder)}`,
  );
  await client.query(
    `WITH tenant AS (
       INSERT INTO tenants (name) SELECT 'tenant ' || n FROM generate_series(1, $1::integer) AS n
       RETURNING id
     ), numbered AS (SELECT id, row_number() OVER () AS n FROM tenant), account AS (
       INSERT INTO accounts (tenant_id, balance, granted)
       SELECT id, 1000000000, 1000000000 FROM tenant
     )
     INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
     SELECT id, 'routing', 'key', decode(($2::text[])[n], 'hex'), 'sk-', 1000000 FROM numbered`,
    [TENANTS, keys.map((key) => hash('sha256', key, 'hex'))],
  );
  return keys;
}

/**
 * Adds rows of this month in order of time, of all tenants, with ids like the service's
 * (`src/platform/http/request-id.ts`). They are marked as aggregated: aggregating ten million would take
 * hours and distort the measurement.
 */
async function fillLog(client, rows) {
  for (let start = 1; start <= rows; start += CHUNK) {
    await client.query(
      `WITH tenant AS (SELECT array_agg(tenant_id) AS ids, array_agg(id) AS keys FROM api_keys
          WHERE type = 'routing'),
        moment AS (SELECT n, date_trunc('month', now())
            + (now() - date_trunc('month', now())) * (n::float8 / $1) AS at
          FROM generate_series($2::bigint, $3::bigint) AS n),
        timed AS (SELECT n, at, lpad(to_hex(
            ((extract(year FROM at) - 2020) * 12 + extract(month FROM at) - 1)::bigint * 262144
            + (extract(epoch FROM at - date_trunc('month', at)) / (31 * 86400) * 262144)::bigint
          ), 7, '0') AS step FROM moment),
        filled AS (
       INSERT INTO request_logs (
         request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome, traffic_mode,
         prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
         usage_source, cost, model_charge, byok_platform_fee, managed_tool_fee, streamed, latency_ms,
         generation_time_ms, created_at)
       SELECT ('6d6f6e74' || left(step, 4) || '4' || right(step, 3) || '8'
           || left(md5(n::text), 15))::uuid,
         ids[1 + n % cardinality(ids)], keys[1 + n % cardinality(ids)], 'chat', 'vendor/model',
         'vendor', 'success', 'completed', 'shared', 100, 50, 0, 0, 0, 'upstream', 70, 70, 0, 0,
         false, 300, 200, at
       FROM timed, tenant RETURNING id)
       UPDATE request_log_progress SET rolled_up_id = newest, series_id = newest, facet_id = newest
       FROM (SELECT max(id) AS newest FROM filled) AS last`,
      [rows, start, Math.min(start + CHUNK - 1, rows)],
    );
  }
  await client.query('VACUUM ANALYZE');
}

/** Waits until new rows are aggregated and analyzed by PostgreSQL. */
async function untilQuiet({ server }) {
  for (let quietSeconds = 0; quietSeconds < 3;) {
    const before = readTreeCpu(server.pid).postgres;
    await wait(1_000);
    const share = (readTreeCpu(server.pid).postgres - before) / 1e6;
    quietSeconds = share < 0.1 ? quietSeconds + 1 : 0;
  }
}

function connectionTo(dataDirectory) {
  const cluster = join(dataDirectory, 'postgres', 'cluster');
  const [, , , port] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  return {
    host: '127.0.0.1',
    port: Number(port),
    user: 'gateway',
    database: 'gateway',
    password: readFileSync(join(dataDirectory, 'postgres-password'), 'utf8').trim(),
  };
}

/** @returns its URL, or undefined when Redis is not installed */
async function startRedis() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const program = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'ignore'] });
  programs.push(program);
  const failed = once(program, 'error').then(() => undefined);
  const ready = once(program.stdout, 'data').then(() => `redis://127.0.0.1:${port}`);
  return Promise.race([ready, failed]);
}

async function finish(driver) {
  if (driver.failures > 0) {
    process.exitCode = 1;
    console.error(`${driver.failures} answers failed: ${driver.faults.join('; ')}`);
  }
  await driver.close();
}

function verdict(isMet) {
  return isMet ? 'met' : '**missed**';
}
