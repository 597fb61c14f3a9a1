import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BootedGateway } from './boot-gateway.js';
import { silentWave } from './spoken-audio.js';

/** Paths of the files that uploads have left so far. */
export async function filesOfUploads({ config }: BootedGateway): Promise<string[]> {
  const root = join(config.dataDirectory, 'tmp', 'uploads');
  const folders = (await readdir(root).catch(() => [])).map((folder) => join(root, folder));
  const paths = folders.map(async (folder) =>
    (await readdir(folder)).map((name) => join(folder, name)),
  );
  return (await Promise.all(paths)).flat();
}

/** What they take on the disk together. */
export async function bytesOfUploads(gateway: BootedGateway): Promise<number> {
  const files = await Promise.all((await filesOfUploads(gateway)).map((path) => stat(path)));
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** A form with a file, which comes first, if any. */
export function form(
  fields: Record<string, string>,
  file?: Blob,
  name = 'a.wav',
  part = 'file',
): FormData {
  const data = new FormData();
  if (file) data.append(part, file, name);
  for (const [field, value] of Object.entries(fields)) data.append(field, value);
  return data;
}

/** Silence of so many milliseconds. */
export const wave = (ms: number): Blob => new Blob([new Uint8Array(silentWave(ms))]);
