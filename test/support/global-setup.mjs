import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../../scripts/ensure-built.mjs';

/** Builds what the process-level tests run, and starts one real PostgreSQL for every suite. */
export default async function globalSetup() {
  await ensureBuilt();
  // Another server, to try the suites on another version of PostgreSQL.
  if (process.env.TEST_POSTGRES_URL) return;
  const { startEmbeddedPostgres } =
    await import('../../dist/src/platform/database/embedded-postgres.js');
  const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  // As root PostgreSQL runs as `nobody`, who has to be able to enter.
  await chmod(dataDirectory, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDirectory });
  process.env.TEST_POSTGRES_URL = postgres.url;
  globalThis.__testPostgres = { postgres, dataDirectory };
}
