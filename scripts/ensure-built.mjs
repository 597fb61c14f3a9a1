import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleService } from './bundle.mjs';
import { PROJECT_ROOT } from './project-root.mjs';
import { runProgram, secondsSince } from './run-program.mjs';
import { withSetupLock } from './setup-lock.mjs';

/** Build results that other scripts run. */
export const BUILT_SERVICE = 'dist/src/main.js';
export const BUILT_WORKER = 'dist/src/worker.js';
export const BUILT_COMMANDS = 'dist/src/cli.js';
export const BUILT_DESCRIPTION = 'dist/openapi.json';

const MAX_DESCRIPTION_BYTES = 20_000_000;

const SOURCE_FOLDERS = ['src', 'migrations'];
/** The options of Nest's CLI, which is not used because it would be most of a production installation. */
const COMPILER_OPTIONS = ['--out-dir', 'dist', '--extensions', '.ts', '--copy-files', '--quiet'];
const SETTINGS = ['package.json', 'tsconfig.json', '.swcrc'];
const SCRIPTS = ['bundle', 'load-bundle', 'compile-bundle'].map((name) => `scripts/${name}.mjs`);
const COMPILE = fileURLToPath(new URL('compile-bundle.mjs', import.meta.url));

/** Also in `dist`, but built by `scripts/console.mjs`. */
const OF_CONSOLE = /^(?:console$|\.console-)/;

/** Builds when sources differ from the last build. Throws the compiler's message. */
export async function ensureBuilt({ root = PROJECT_ROOT, say = () => {} } = {}) {
  if (isBuilt(root)) {
    return;
  }
  await withSetupLock(root, say, async () => {
    if (!isBuilt(root)) {
      await build(root, say);
    }
  });
}

async function build(root, say) {
  const startedAtMs = Date.now();
  // Taken before the build, so that sources saved meanwhile cause another one.
  const digest = digestSources(root);
  cleanBuild(root);
  const swc = join(root, 'node_modules', '@swc', 'cli', 'bin', 'swc.js');
  const { succeeded, output } = await runProgram(
    process.execPath,
    [swc, ...SOURCE_FOLDERS, ...COMPILER_OPTIONS],
    { cwd: root },
  );
  if (!succeeded) {
    throw new Error(`swc failed:\n${output.trim()}`);
  }
  await bundleService(root);
  await describeApi(root);
  writeFileSync(stampFile(root), digest);
  say(`Built (${secondsSince(startedAtMs)})`);
}

/** Writes the API description, which `/docs-json` and the console's types use, and the compiled code. */
async function describeApi(root) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [COMPILE, join(root, 'dist', 'service')],
    { cwd: root, maxBuffer: MAX_DESCRIPTION_BYTES },
  );
  writeFileSync(join(root, BUILT_DESCRIPTION), stdout);
}

function isBuilt(root) {
  return serviceStamp(root) === digestSources(root);
}

/** Empties `dist`, so that no outdated files remain. The folder itself can be a mount. */
function cleanBuild(root) {
  const folder = join(root, 'dist');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (!OF_CONSOLE.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Returns the stamp of the sources that the service was built from; undefined when it is not built. */
export function serviceStamp(root) {
  const stamp = stampFile(root);
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}

function stampFile(root) {
  return join(root, 'dist', '.built-from');
}

function digestSources(root) {
  const sources = SOURCE_FOLDERS.flatMap((folder) => listFiles(root, folder));
  return digestFiles(root, [...SETTINGS, ...SCRIPTS, ...sources]);
}

/** Hashes names and contents, not times: a fresh checkout of the same sources needs no build. */
export function digestFiles(root, paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const file = join(root, path);
    const content = existsSync(file) ? readFileSync(file) : '';
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function listFiles(root, folder) {
  if (!existsSync(join(root, folder))) {
    return [];
  }
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

/** `npm run build` always builds. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const say = (line) => console.log(line);
  await withSetupLock(PROJECT_ROOT, say, () => build(PROJECT_ROOT, say)).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
