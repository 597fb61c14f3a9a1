/**
 * Runs a gateway with 90 days of seeded history, to try out its console.
 *
 *   node bench/scale/seed-console.mjs --data /tmp/seeded [--rows 5000000] [--port 4100]
 *
 * Seeds the data folder if it is empty (by default 20,000 log rows: 50 tenants, 70 % of the rows of one
 * called acme), checks the books, and serves until it is stopped (Ctrl+C). Prints its URL and keys to log
 * in with: an operator's, the owner's of acme, and those of a tenant without rows. `--seed-only` exits
 * after seeding. With `DATABASE_URL` it seeds that empty database. Gateway variables are passed on.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { BUILT_SERVICE, ensureBuilt } from '../../scripts/ensure-built.mjs';
import { ensureConsole } from '../../scripts/console.mjs';
import { PROJECT_ROOT } from '../../scripts/project-root.mjs';
import { startServer } from '../server-process.mjs';
import { apiOf } from './console/api.mjs';
import { addPeople, dateBack } from './console/past.mjs';
import { startVendor } from './console/vendor.mjs';
import { furnish } from './console/seed-environment.mjs';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    rows: { type: 'string', default: '20000' },
    port: { type: 'string', default: '0' },
    'seed-only': { type: 'boolean', default: false },
  },
});
if (!values.data) throw new Error('--data <folder> is missing');
const folder = resolve(values.data);
const factsFile = join(folder, 'console-system.json');
/** Rows per transaction of the roll-up; large, since no request waits. */
const ROLLED_UP_AT_ONCE = 250_000;

await ensureBuilt({ say: console.log });
await ensureConsole({ say: console.log });
const servers = [];
const vendor = await startVendor();
try {
  const facts = existsSync(factsFile) ? JSON.parse(readFileSync(factsFile, 'utf8')) : await seed();
  if (!values['seed-only']) await serve(facts);
} finally {
  for (const server of servers) await server.stop();
  vendor.stop();
}

async function seed() {
  const startMs = performance.now();
  for (const path of [folder, join(folder, 'data')]) {
    mkdirSync(path, { recursive: true });
    // As root, the service runs PostgreSQL as another user, who needs access to the folder.
    chmodSync(path, 0o711);
  }
  const secret = () => randomBytes(20).toString('hex');
  const facts = {
    adminKey: `sk-admin-${secret()}`,
    /** Keys of a tenant without any requests. */
    newcomer: { routingKey: `sk-${secret()}`, managementKey: `sk-mgmt-${secret()}` },
    secret: secret(),
  };
  const gateway = await start(facts, '0');
  const { tenants, ...world } = await furnish(apiOf(gateway.url, facts.adminKey), vendor.url);
  await gateway.stop();
  say('furnished', startMs);
  await withDatabase((url) => fill(url, tenants, world.acme.id, facts));
  Object.assign(facts, world, { rows: Number(values.rows) });
  writeFileSync(factsFile, JSON.stringify(facts, null, 2));
  say('seeded', startMs);
  return facts;
}

async function fill(url, tenants, acmeId, facts) {
  const { DAYS, seedRows } = await import('./console/rows.mjs');
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  try {
    let startMs = performance.now();
    facts.sessions = await addPeople(pool, acmeId);
    await dateBack(pool, DAYS);
    await seedRows(pool, { rows: Number(values.rows), tenants });
    say('rows made', startMs);
    startMs = performance.now();
    await rollUp(url);
    say('added up', startMs);
    startMs = performance.now();
    await pool.query('VACUUM ANALYZE');
    await checkBooks(pool);
    say('vacuumed, and the books checked', startMs);
  } finally {
    await pool.end();
  }
}

/** Uses the service's own aggregation. */
async function rollUp(url) {
  const built = (path) => import(`../../dist/src/${path}.js`);
  const [{ databaseOptions }, { Database }, { RequestLogRollUpService }] = await Promise.all([
    built('platform/database/database-options'),
    built('platform/database/database'),
    built('core/request-log/request-log-roll-up.service'),
  ]);
  const dataSource = await new DataSource(databaseOptions(url)).initialize();
  try {
    const service = new RequestLogRollUpService(new Database(dataSource));
    service.rowsAtOnce = ROLLED_UP_AT_ONCE;
    await service.rollUpNow();
  } finally {
    await dataSource.destroy();
  }
}

async function checkBooks(pool) {
  const { findBookFaults } = await import('../../dist/src/core/ledger/books.js');
  const faults = await findBookFaults(pool, { isLogWhole: true });
  if (faults.length > 0) throw new Error(`The books are wrong:\n${faults.join('\n')}`);
}

async function withDatabase(work) {
  if (process.env.DATABASE_URL) return work(process.env.DATABASE_URL);
  const { startEmbeddedPostgres } =
    await import('../../dist/src/platform/database/embedded-postgres.js');
  const postgres = await startEmbeddedPostgres({ dataDirectory: join(folder, 'data') });
  try {
    return await work(postgres.url);
  } finally {
    await postgres.stop();
  }
}

function start(facts, port) {
  return startServer([join(PROJECT_ROOT, BUILT_SERVICE)], {
    servers,
    logFile: join(folder, 'gateway.log'),
    environment: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: port,
      GATEWAY_DATA_DIR: join(folder, 'data'),
      GATEWAY_SECRET: facts.secret,
      GATEWAY_ADMIN_KEY: facts.adminKey,
      GATEWAY_BOOTSTRAP_API_KEY: facts.newcomer.routingKey,
      GATEWAY_BOOTSTRAP_MANAGEMENT_KEY: facts.newcomer.managementKey,
      GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '100000',
      GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE: '100000',
      GATEWAY_CONTENT_LOG: 'allowed',
      GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
      GATEWAY_SANDBOX: 'true',
      OPENAI_API_KEY: 'a-key-of-nobody',
      OPENAI_BASE_URL: `${vendor.url}/v1`,
      ANTHROPIC_API_KEY: 'a-key-of-nobody',
      ANTHROPIC_BASE_URL: vendor.url,
      AZURE_OPENAI_API_KEY: 'a-key-of-nobody',
      AZURE_OPENAI_ENDPOINT: vendor.url,
      // Nothing listens there, so one provider is unhealthy.
      FISH_AUDIO_API_KEY: 'a-key-of-nobody',
      FISH_AUDIO_BASE_URL: 'http://127.0.0.1:9',
    },
  });
}

async function serve(facts) {
  writeFileSync(join(folder, 'gateway.log'), '');
  const { url, exited } = await start(facts, values.port);
  console.log(`Console:   ${url}/console`);
  console.log(`Operator:  ${facts.adminKey}`);
  console.log(`Owner:     ${facts.acme.managementKey}`);
  console.log(`Newcomer:  ${facts.newcomer.managementKey}`);
  console.log(`Model Gateway listens on ${url}`);
  await Promise.race([
    exited,
    ...['SIGINT', 'SIGTERM'].map((signal) => new Promise((end) => process.once(signal, end))),
  ]);
}

function say(what, startMs) {
  console.log(`${what} (${((performance.now() - startMs) / 1_000).toFixed(1)} s)`);
}
