import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from './ensure-built.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';

/**
 * Runs a built program in this process, so that signals and memory are its own. Installs and builds
 * first on a fresh clone, later only what is stale.
 *
 * npm sends signals only to the shell of its script, which does not forward them. The scripts in
 * package.json therefore use `exec`, which replaces the shell by this process. The part after `||` is
 * for Windows, whose shell has no `exec`. The scripts also set variables that glibc reads when a process
 * starts (decision 22), which cluster workers inherit.
 *
 * @param options.say receives progress messages
 * @param options.onBuilt called before the program starts
 * @returns when the program's top level has finished, i.e. when a service listens
 */
export async function runBuilt(program, { say = console.log, onBuilt = () => {} } = {}) {
  process.chdir(PROJECT_ROOT);
  try {
    await ensureInstalled({ say, toRun: true });
    await ensureBuilt({ say });
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
  onBuilt();
  const path = join(PROJECT_ROOT, program);
  process.argv[1] = path;
  await import(pathToFileURL(path).href);
}
