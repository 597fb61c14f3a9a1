import { rm } from 'node:fs/promises';

export default async function globalTeardown() {
  if (!globalThis.__testPostgres) return;
  const { postgres, dataDirectory } = globalThis.__testPostgres;
  await postgres.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}
