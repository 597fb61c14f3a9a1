import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BootedGateway } from './boot-gateway.js';
import { silentWave } from './spoken-audio.js';

/** Returns the paths of all files that uploads have left. */
export async function filesOfUploads({ config }: BootedGateway): Promise<string[]> {
  const root = join(config.dataDirectory, 'tmp', 'uploads');
  const folders = (await readdir(root).catch(() => [])).map((folder) => join(root, folder));
  const paths = folders.map(async (folder) =>
    (await readdir(folder)).map((name) => join(folder, name)),
  );
  return (await Promise.all(paths)).flat();
}

/** Returns the total size of uploads on the disk. */
export async function bytesOfUploads(gateway: BootedGateway): Promise<number> {
  const files = await Promise.all((await filesOfUploads(gateway)).map((path) => stat(path)));
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** A form with an optional file, which comes first. */
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

/** A silent WAV of that many milliseconds. */
export const wave = (ms: number): Blob => new Blob([new Uint8Array(silentWave(ms))]);
