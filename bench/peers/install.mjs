import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 900_000;

/**
 * Installs a peer outside the project, once: its packages at fixed versions, without install scripts.
 * Replaces a broken installation.
 *
 * @returns `python` or `modules`, as the peer's `serve` expects
 * @throws Error with a message when it is not available here
 */
export async function installPeer(peer, say) {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const recipe = hash('sha256', JSON.stringify(peer.packages)).slice(0, 8);
  const folder = join(cache, 'model-gateway-bench', `${peer.id}-${peer.version}-${recipe}`);
  if (!existsSync(folder)) {
    say(`Installing ${peer.name} ${peer.version} ...`);
    const place = `${folder}.new`;
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    try {
      await (peer.kind === 'node' ? installNode(peer, place) : installPython(peer, place));
    } catch (error) {
      rmSync(place, { recursive: true, force: true });
      throw new Error(`could not be installed: ${reasonOf(error)}`, { cause: error });
    }
    renameSync(place, folder);
  }
  return peer.kind === 'node'
    ? { modules: join(folder, 'node_modules') }
    : { python: join(folder, 'bin', 'python') };
}

async function installNode({ packages }, place) {
  writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, ...packages }));
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', words, { cwd: place, timeout: LIMIT_MS });
}

async function installPython({ packages }, place) {
  await run('python3', ['-m', 'venv', place], { timeout: LIMIT_MS });
  const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:'];
  await run(join(place, 'bin', 'python'), [...pip, ...packages], { timeout: LIMIT_MS });
}

function reasonOf(error) {
  if (error.code === 'ENOENT') return `${error.path} is missing`;
  const lines = String(error.stderr || error.message)
    .trim()
    .split('\n');
  return lines.at(-1).slice(0, 200);
}
