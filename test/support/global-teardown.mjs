import { rm } from 'node:fs/promises';
import pg from 'pg';

export default async function globalTeardown() {
  const { server, name } = globalThis.__testTemplate;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await client.end();
  if (globalThis.__testPostgres) {
    const { postgres, dataDirectory } = globalThis.__testPostgres;
    await postgres.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
  const folder = globalThis.__testFolder;
  if (folder) await rm(folder, { recursive: true, force: true });
}
