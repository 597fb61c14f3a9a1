import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface OperatorFiles {
  /** Settings that name the files. */
  environment: { GATEWAY_PROVIDERS: string; GATEWAY_CATALOGUE: string };
  remove(): Promise<void>;
}

/**
 * Writes the files with which an operator adds OpenAI-compatible servers and their models.
 *
 * @param providers base URLs, or objects of provider fields, by provider id
 * @param models catalogue rows
 */
export async function writeOperatorFiles(
  providers: Record<string, string | { base_url: string; [field: string]: unknown }>,
  models: object[],
): Promise<OperatorFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-files-'));
  const environment = {
    GATEWAY_PROVIDERS: join(folder, 'providers.json'),
    GATEWAY_CATALOGUE: join(folder, 'catalogue.json'),
  };
  const rows = Object.entries(providers).map(([id, provider]) => ({
    id,
    name: id,
    ...(typeof provider === 'string' ? { base_url: provider } : provider),
  }));
  await writeFile(environment.GATEWAY_PROVIDERS, JSON.stringify(rows));
  await writeFile(environment.GATEWAY_CATALOGUE, JSON.stringify({ models }));
  return { environment, remove: () => rm(folder, { recursive: true }) };
}
