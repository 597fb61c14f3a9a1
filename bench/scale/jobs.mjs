/**
 * Measures how long a tenant waits for its list of jobs in a large table.
 *
 *   npm run build && node bench/scale/jobs.mjs [rows]
 *
 * Creates a database with 1,000,000 jobs (by default) of 100 tenants and prints the slowest of five
 * readings each. Exits with 1 when one takes longer than 50 ms.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../dist/src/platform/database/migrations.js';
import { databaseOptions } from '../../dist/src/platform/database/database-options.js';
import { Database } from '../../dist/src/platform/database/database.js';
import { migrateDatabase } from '../../dist/src/platform/database/migrate-database.js';
import { startEmbeddedPostgres } from '../../dist/src/platform/database/embedded-postgres.js';
import { JobEntity } from '../../dist/src/features/jobs/job.entity.js';
import { JobsRepository } from '../../dist/src/features/jobs/jobs.repository.js';
import { timed } from './timing.mjs';

const LIMIT_MS = 50;
const ROWS = Number(process.argv[2] ?? 1_000_000);
const TENANTS = 100;
const CHUNK = 100_000;

const directory = await mkdtemp(join(tmpdir(), 'gateway-scale-'));
await chmod(directory, 0o711);
const postgres = await startEmbeddedPostgres({ dataDirectory: directory });
let dataSource;
try {
  await migrateDatabase(postgres.url, MIGRATIONS);
  dataSource = await new DataSource({
    ...databaseOptions(postgres.url),
    entities: [JobEntity],
  }).initialize();
  const database = new Database(dataSource);
  const tenants = Array.from({ length: TENANTS }, () => randomUUID());
  const fillMs = await timed(() => fill(database, tenants));
  console.log(`${ROWS} jobs of ${TENANTS} tenants made in ${(fillMs / 1_000).toFixed(1)} s`);
  await database.query('VACUUM ANALYZE');
  process.exitCode = (await measure(database, tenants)) ? 0 : 1;
} finally {
  await dataSource?.destroy();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}

/** Adds jobs of January 2026 in order of time, with a rare model among them. */
async function fill(database, tenants) {
  for (let start = 1; start <= ROWS; start += CHUNK) {
    await database.query(
      `INSERT INTO jobs (
         id, tenant_id, api_key_id, request_id, endpoint, modality, model, status, body, routes,
         flagged, body_hash, step, provider, reserved_credits, actual_cost, error, created_at,
         deadline_at, completed_at, expires_at, fetched_at)
       SELECT (ARRAY['img_', 'vid_', 'aud_'])[1 + n % 3] || lpad(n::text, 36, '0'),
         ($1::uuid[])[1 + n % $2], gen_random_uuid(),
         gen_random_uuid(), 'jobs', (ARRAY['image', 'video', 'audio'])[1 + n % 3],
         CASE WHEN n % 50020 = 0 THEN 'vendor/rare' ELSE 'vendor/model-' || n % 12 END,
         CASE WHEN n % 41 = 0 THEN 'failed' WHEN n % 37 = 0 THEN 'expired' ELSE 'succeeded' END,
         '{"model":"vendor/model","prompt":"' || repeat('A lighthouse in the fog. ', 12) || '"}',
         '[{"provider":"vendor","limits":{},"pricing":{}}]', false, '', 'accepted', 'vendor', 40000,
         CASE WHEN n % 41 = 0 OR n % 37 = 0 THEN 0 ELSE 40000 END,
         CASE WHEN n % 41 = 0 THEN '{"message":"The vendor refused."}' END, at, at, at, at, at
       FROM generate_series($3::bigint, $4::bigint) AS n,
         LATERAL (SELECT '2026-01-01Z'::timestamptz + make_interval(secs => n * (31 * 86400.0 / $5))
           AS at) AS moment`,
      [tenants, TENANTS, start, Math.min(start + CHUNK - 1, ROWS), ROWS],
    );
  }
}

async function measure(database, [tenant]) {
  const repository = new JobsRepository(dataSource.getRepository(JobEntity), database);
  const own = Math.floor(ROWS / TENANTS);
  const page = (filters, offset = 0, tenantId = tenant) =>
    repository.list(tenantId, filters, { limit: 201, offset });
  const odd = { start: new Date('2026-01-03T04:05:06Z'), end: new Date('2026-01-28T09:10:11Z') };
  const { rows } = await database.query('SELECT id FROM jobs WHERE tenant_id = $1 LIMIT 1', [
    tenant,
  ]);
  const work = {
    'first page': () => page({}),
    'deep page': () => page({}, Math.floor(own * 0.9)),
    'past the end': () => page({}, ROWS),
    'one status': () => page({ status: 'failed' }),
    'one status, deep': () => page({ status: 'failed' }, Math.floor(own / 41 / 2)),
    'a status of none': () => page({ status: 'queued' }),
    'one modality': () => page({ modality: 'video' }, Math.floor(own / 6)),
    'one model': () => page({ model: 'vendor/model-4' }),
    'a rare model': () => page({ model: 'vendor/rare' }),
    'an unknown model': () => page({ model: 'vendor/none' }),
    'odd dates, deep': () => page(odd, Math.floor(own / 2)),
    everything: () =>
      page({ ...odd, status: 'failed', modality: 'image', model: 'vendor/model-0' }),
    'a tenant of none': () => page({}, 0, randomUUID()),
    'one job': () => repository.find(tenant, rows[0].id),
  };
  let isFast = true;
  for (const [name, run] of Object.entries(work)) {
    let slowestMs = 0;
    for (let round = 0; round < 5; round++) slowestMs = Math.max(slowestMs, await timed(run));
    if (slowestMs > LIMIT_MS) isFast = false;
    const note = slowestMs > LIMIT_MS ? '  TOO SLOW' : '';
    console.log(`${name.padEnd(28)} ${slowestMs.toFixed(1).padStart(7)} ms${note}`);
  }
  return isFast;
}
