/** `npm run start:worker`: the background work alone, after the same preparation as `npm start`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT_WORKER, ensureBuilt } from './ensure-built.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';

process.chdir(PROJECT_ROOT);
try {
  const say = (line) => console.log(line);
  await ensureInstalled({ say });
  await ensureBuilt({ say });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const worker = join(PROJECT_ROOT, BUILT_WORKER);
process.argv[1] = worker;
await import(pathToFileURL(worker).href);
