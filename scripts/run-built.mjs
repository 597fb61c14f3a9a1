import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from './ensure-built.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';

/**
 * Runs a built program in this very process, so that signals and memory are its own. On a fresh
 * clone it installs and builds first, later only what has become stale.
 *
 * npm passes signals to the shell of its script only, which keeps them to itself. So the scripts in
 * package.json say `exec`: the shell becomes this process. What stands behind `||` is for the shell
 * of Windows, which has no `exec` and goes on to it; elsewhere nothing is left that could. They also
 * set what glibc reads when a process starts (decision 22); the cluster's workers inherit it.
 *
 * @param options.say is told what is being prepared
 * @param options.onBuilt is called before the program starts
 * @returns when the program's own top level has ended, that is when a service listens
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
