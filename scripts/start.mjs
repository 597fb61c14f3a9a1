/**
 * `npm start`: on a fresh clone installs and builds first, later only what has become stale. The
 * service then runs in this very process, so that signals and memory are its own.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT_SERVICE, ensureBuilt } from './ensure-built.mjs';
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
const service = join(PROJECT_ROOT, BUILT_SERVICE);
process.argv[1] = service;
await import(pathToFileURL(service).href);
