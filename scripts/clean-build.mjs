import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROJECT_ROOT } from './project-root.mjs';

/** Empties `dist`, so that files of sources that are gone do not linger. */
export function cleanBuild(root = PROJECT_ROOT) {
  const folder = join(root, 'dist');
  let names;
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (error.code === 'ENOENT') {
      return;
    }
    throw error;
  }
  // The folder itself stays: it may be a mount.
  for (const name of names) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  cleanBuild();
}
