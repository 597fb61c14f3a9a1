/**
 * Measures how long a tenant waits for its log and reports when the log is large.
 *
 *   npm run build && node bench/scale/request-log.mjs [rows] [--data folder] [--only text]
 *
 * Creates a database with 5,000,000 rows of one month (by default), and prints the slowest of five
 * readings each, and the time of the month's CSV. Exits with 1 when a reading takes longer than 300 ms or
 * memory grows with the length of the CSV. `--data` keeps the database in that folder for the next run;
 * `--only` runs only readings whose name contains the text.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../dist/src/platform/database/migrations.js';
import { databaseOptions } from '../../dist/src/platform/database/database-options.js';
import { Database } from '../../dist/src/platform/database/database.js';
import { migrateDatabase } from '../../dist/src/platform/database/migrate-database.js';
import { startEmbeddedPostgres } from '../../dist/src/platform/database/embedded-postgres.js';
import { ArchiveBucket } from '../../dist/src/core/request-log/archive/archive-bucket.js';
import { RequestLogArchive } from '../../dist/src/core/request-log/archive/request-log-archive.js';
import { LogsService } from '../../dist/src/features/customer/logs/logs.service.js';
import { RequestLogAnalyticsReader } from '../../dist/src/core/request-log/request-log-analytics.reader.js';
import { LOG_DIMENSIONS, readDimensions } from '../../dist/src/core/request-log/log-dimensions.js';
import { RequestLogGroupsReader } from '../../dist/src/core/request-log/request-log-groups.reader.js';
import { RequestLogOverTenantsReader } from '../../dist/src/core/request-log/request-log-over-tenants.reader.js';
import { RequestLogReader } from '../../dist/src/core/request-log/request-log.reader.js';
import { RequestLogRollUpService } from '../../dist/src/core/request-log/request-log-roll-up.service.js';
import { seconds, timed } from './timing.mjs';

/** An archive without any files. */
const archive = new RequestLogArchive(new ArchiveBucket({ s3: undefined }));
const LIMIT_MS = 300;
const EXPORT_GROWTH_MB = 50;
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { data: { type: 'string' }, only: { type: 'string', default: '' } },
});
const ROWS = Number(positionals[0] ?? 5_000_000);
const CHUNK = 250_000;
/** Rows that are not aggregated yet, as in a busy service. */
const FRESH_ROWS = Math.min(10_000, Math.floor(ROWS / 10));

const directory = options.data ?? (await mkdtemp(join(tmpdir(), 'gateway-scale-')));
await mkdir(directory, { recursive: true });
await chmod(directory, 0o711);
const factsFile = join(directory, 'facts.json');
const postgres = await startEmbeddedPostgres({ dataDirectory: directory });
let dataSource;
try {
  await migrateDatabase(postgres.url, MIGRATIONS);
  dataSource = await new DataSource(databaseOptions(postgres.url)).initialize();
  const database = new Database(dataSource);
  if (!existsSync(factsFile)) await seed(database);
  const { tenantId, keys } = JSON.parse(readFileSync(factsFile, 'utf8'));

  const isFast = await measure(database, tenantId, keys);
  const isFlat = options.only !== '' || (await measureExport(database, tenantId));
  process.exitCode = isFast && isFlat ? 0 : 1;
} finally {
  await dataSource?.destroy();
  await postgres.stop();
  if (!options.data) await rm(directory, { recursive: true, force: true });
}

async function seed(database) {
  const tenantId = randomUUID();
  const keys = Array.from({ length: 10 }, () => randomUUID());
  const rollUp = new RequestLogRollUpService(database);
  const fillMs = await timed(() => fill(database, tenantId, keys, 1, ROWS - FRESH_ROWS));
  console.log(`${ROWS} rows made in ${seconds(fillMs)} s`);
  const rollUpMs = await timed(() => rollUp.rollUpNow());
  console.log(
    `added up in ${seconds(rollUpMs)} s, ${((rollUpMs * 1_000) / ROWS).toFixed(1)} µs a row`,
  );
  await fill(database, tenantId, keys, ROWS - FRESH_ROWS + 1, ROWS);
  await database.query('VACUUM ANALYZE');
  writeFileSync(factsFile, JSON.stringify({ tenantId, keys }));
}

/**
 * Adds rows of January 2026 in order of time, with a rare model and a rare key; a seventh over BYOK
 * accounts, an eleventh from the cache.
 */
async function fill(database, tenantId, keys, from, to) {
  for (let start = from; start <= to; start += CHUNK) {
    await database.query(
      `INSERT INTO request_logs (
         request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome, traffic_mode,
         prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
         usage_source, cost, model_charge, byok_platform_fee, managed_tool_fee, streamed, latency_ms,
         generation_time_ms, vendor_cost, end_user, tags, created_at)
       SELECT gen_random_uuid(), $1::uuid,
         ($2::uuid[])[CASE WHEN n % 50021 = 0 THEN 10 ELSE 1 + n % 9 END], 'chat',
         CASE WHEN n % 50021 = 0 THEN 'vendor/rare' WHEN n % 2503 = 0 THEN 'vendor/seldom'
              ELSE 'vendor/model-' || n % 12 END,
         'vendor-' || n % 3, CASE WHEN n % 41 = 0 THEN 'error' ELSE 'success' END,
         CASE WHEN n % 41 = 0 THEN 'failed' ELSE 'completed' END,
         CASE WHEN n % 7 = 0 THEN 'byok' ELSE 'shared' END, 100 + n % 900, n % 500, 0, 0, 0, 'upstream',
         CASE WHEN n % 11 = 0 THEN 0 ELSE n % 700 END,
         CASE WHEN n % 7 = 0 OR n % 11 = 0 THEN 0 ELSE n % 700 END,
         CASE WHEN n % 7 = 0 AND n % 11 <> 0 THEN n % 700 ELSE 0 END, 0, n % 2 = 0,
         200 + (n * 7919) % 30000, 100, n % 700,
         -- 2,000 end users, each of one team and a few features; a fifth of the requests has none.
         CASE WHEN n % 5 > 0 THEN 'user-' || (n * 7919) % 2000 END,
         CASE WHEN n % 10 > 0 THEN jsonb_build_object(
           'team', 'team-' || ((n * 7919) % 2000) % 8, 'feature', 'feature-' || n % 12
         ) END,
         '2026-01-01Z'::timestamptz + make_interval(secs => n * (31 * 86400.0 / $3))
       FROM generate_series($4::bigint, $5::bigint) AS n`,
      [tenantId, keys, ROWS, start, Math.min(start + CHUNK - 1, to)],
    );
  }
}

async function measure(database, tenantId, keys) {
  const reader = new RequestLogReader(database, archive);
  const analytics = new RequestLogAnalyticsReader(database, archive);
  const january = { start: new Date('2026-01-01'), end: new Date('2026-02-01') };
  const odd = { start: new Date('2026-01-03T04:05:06Z'), end: new Date('2026-01-28T09:10:11Z') };
  const page = (filters, offset = 0) =>
    reader.pageOfTenant(tenantId, filters, { limit: 100, offset });
  const groups = (grouping, range) => analytics.groupsOfTenant(tenantId, grouping, range);
  const requestGroups = new RequestLogGroupsReader(database, archive);
  const overTenants = new RequestLogOverTenantsReader(database, archive);
  const any = (groupBy, range, filters = {}, tenant = tenantId) => {
    const isOverTenants = groupBy.includes('tenant');
    const dimensions = readDimensions(groupBy, { isOverTenants });
    const ofTenant = isOverTenants ? undefined : tenant;
    return requestGroups.groups({ tenantId: ofTenant, dimensions, filters, range, limit: 1_000 });
  };
  const all = (filters) => overTenants.page(filters, undefined, 50);
  const deep = Math.floor(ROWS * 0.9);
  const work = {
    'first page': () => page({}),
    'deep page': () => page({}, deep),
    'past the end': () => page({}, 2 * ROWS),
    'one status': () => page({ status: 'error' }),
    'one status, deep': () => page({ status: 'error' }, Math.floor(deep / 41)),
    'one model': () => page({ model: 'vendor/model-5' }),
    'one model, deep': () => page({ model: 'vendor/model-5' }, Math.floor(deep / 12)),
    'a seldom model': () => page({ model: 'vendor/seldom' }),
    'a rare model': () => page({ model: 'vendor/rare' }),
    'an unknown model': () => page({ model: 'vendor/none' }),
    'one key': () => page({ apiKeyId: keys[3] }, Math.floor(deep / 9)),
    'a rare key': () => page({ apiKeyId: keys[9] }),
    'odd dates': () => page(odd, Math.floor(ROWS / 2)),
    everything: () =>
      page({ ...odd, status: 'error', model: 'vendor/model-5', apiKeyId: keys[3] }, 100),
    'by model': () => groups('model', january),
    'by provider': () => groups('provider', january),
    'by key': () => groups('api_key', january),
    'by status': () => groups('status', january),
    'by day': () => groups('day', january),
    'by hour': () => groups('hour', january),
    'by model, odd dates': () => groups('model', odd),
    'by hour, odd dates': () => groups('hour', odd),
    'by team': () => any('tag:team', january),
    'by team and model': () => any('tag:team,model', january),
    'by team and feature': () => any('tag:team,tag:feature', january),
    'by team and day': () => any('tag:team,day', january),
    'by key and route': () => any('api_key,route', january),
    'by model and hour': () => any('model,hour', january),
    'by model and key, odd dates': () => any('model,api_key', odd),
    'by team and model, odd dates': () => any('tag:team,model', odd),
    'one team by model and key': () => any('model,api_key', odd, { tags: { team: 'team-3' } }),
    'by end user': () => any('end_user', january),
    'by end user and model': () => any('end_user,model', january),
    'by end user, odd dates': () => any('end_user', odd),
    'by end user and team, odd dates': () => any('end_user,tag:team', odd),
    'one end user by day': () => any('day', january, { endUser: 'user-77' }),
    'all tenants by model': () => any('tenant,model', january, {}, undefined),
    'all tenants by day': () => any('tenant,day', january, {}, undefined),
    'all logs, first page': () => all({}),
    'all logs, one team': () => all({ tags: { team: 'team-3' } }),
    'all logs, a rare model': () => all({ model: 'vendor/rare' }),
    'all logs, one end user': () => all({ endUser: 'user-77' }),
  };
  let isFast = true;
  for (const [name, run] of Object.entries(work)) {
    if (!name.includes(options.only)) continue;
    let slowestMs = 0;
    for (let round = 0; round < 5; round++) slowestMs = Math.max(slowestMs, await timed(run));
    if (slowestMs > LIMIT_MS) isFast = false;
    console.log(
      `${name.padEnd(24)} ${slowestMs.toFixed(0).padStart(6)} ms${slowestMs > LIMIT_MS ? '  TOO SLOW' : ''}`,
    );
  }
  return (await measurePairs(any, { january, odd })) && isFast;
}

/** Runs every grouping by one and two dimensions, with and without filters, and takes the second of two readings. */
async function measurePairs(any, ranges) {
  const dimensions = [...LOG_DIMENSIONS, 'tag:team', 'tag:feature'];
  const pairs = dimensions.flatMap((one, index) =>
    dimensions.slice(index).map((other) => (one === other ? one : `${one},${other}`)),
  );
  const filtered = {
    '': {},
    ', one team': { tags: { team: 'team-3' } },
    ', one model': { model: 'vendor/model-5' },
    ', one end user': { endUser: 'user-77' },
  };
  const readings = [];
  for (const pair of pairs) {
    for (const [span, range] of Object.entries(ranges)) {
      for (const [filter, filters] of Object.entries(filtered)) {
        const name = `${pair}, ${span}${filter}`;
        if (!name.includes(options.only)) continue;
        await any(pair, range, filters);
        readings.push({ name, ms: await timed(() => any(pair, range, filters)) });
      }
    }
  }
  readings.sort((one, other) => other.ms - one.ms);
  const slow = readings.filter(({ ms }) => ms > LIMIT_MS);
  for (const { name, ms } of slow) console.log(`${name.padEnd(44)} ${ms.toFixed(0)} ms  TOO SLOW`);
  const [slowest] = readings;
  if (slowest) {
    console.log(
      `${readings.length} groupings by one and two dimensions, the slowest: ${slowest.name}, ${slowest.ms.toFixed(0)} ms`,
    );
  }
  return slow.length === 0;
}

/**
 * Reads the month as CSV. Memory may grow at the start, but not after a fifth has been read.
 */
async function measureExport(database, tenantId) {
  const logs = new LogsService(new RequestLogReader(database, archive), undefined);
  const query = { start_date: '2026-01-01', end_date: '2026-01-31' };
  const most = { first: 0, later: 0 };
  let lines = 0;
  const ms = await timed(async () => {
    for await (const text of logs.export({ tenantId }, query)) {
      lines += text.split('\n').length - 1;
      const part = lines < ROWS / 5 ? 'first' : 'later';
      most[part] = Math.max(most[part], process.memoryUsage.rss());
    }
  });
  const grownMb = (most.later - most.first) / 1_000_000;
  // A header line, and every row but the last, which belongs to the next month.
  const isFlat = lines === ROWS && grownMb <= EXPORT_GROWTH_MB;
  console.log(
    `CSV of ${lines} lines in ${seconds(ms)} s, ${grownMb.toFixed(0)} MB more${isFlat ? '' : '  WRONG'}`,
  );
  return isFlat;
}
