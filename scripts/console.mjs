/**
 * Builds the web console in `console/` into `dist/console`:
 *   npm run build:console             installs its packages, generates API types and bundles it if stale
 *   node scripts/console.mjs behind   the same for `npm start`: at the lowest priority, and only until
 *                                     the parent process ends
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { BUILT_DESCRIPTION, digestFiles, ensureBuilt, serviceStamp } from './ensure-built.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';
import { runProgram, secondsSince } from './run-program.mjs';
import { withSetupLock } from './setup-lock.mjs';

/** Generated from the API description, in `console/`. */
const SCHEMA = 'src/api/schema.d.ts';
const NOT_SOURCES = new Set(['node_modules', 'openapi.json', '.setup-lock', SCHEMA]);
const STAMP = '.built-from';

/** Smaller files gain nothing. Images and fonts are already compressed. */
const COMPRESSED_FROM_BYTES = 1_000;
const COMPRESSED = /\.(?:js|css|svg|json|webmanifest|txt)$/;

/** npm errors that are caused by the network. */
const NO_NETWORK =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/;

/**
 * Builds the console when its sources or the API description differ from the last build. The served
 * files switch atomically from one complete build to the next.
 *
 * @param options.say receives messages about completed work
 * @param options.onStep receives the current step
 * @throws Error with the message of npm or Vite
 */
export async function ensureConsole({
  root = PROJECT_ROOT,
  say = () => {},
  onStep = () => {},
} = {}) {
  // The API types come from the service's description.
  await ensureBuilt({ root, say });
  if (isConsoleBuilt(root)) return;
  const folder = join(root, 'console');
  onStep('installing packages');
  await ensureInstalled({ root: folder, of: 'the console', say });
  onStep('waiting for another build');
  await withSetupLock(
    folder,
    () => {},
    async () => {
      if (isConsoleBuilt(root)) return;
      const startedAtMs = Date.now();
      // Taken before the build, so that sources saved meanwhile cause another one.
      const stamp = { sources: digestSources(root), service: serviceStamp(root), api: '' };
      onStep('generating API types');
      const api = await writeSchema(root);
      stamp.api = digestOf(api);
      const known = readStamp(root);
      if (known?.sources === stamp.sources && known.api === stamp.api) {
        // The service changed, but not the API description.
        writeFileSync(join(builtFolder(root), STAMP), JSON.stringify(stamp));
        return;
      }
      onStep('bundling');
      await build(root, stamp);
      say(`Console built (${secondsSince(startedAtMs)})`);
    },
  );
}

/** Returns whether the served build matches the sources and the service. */
export function isConsoleBuilt(root = PROJECT_ROOT) {
  const stamp = readStamp(root);
  return (
    stamp !== undefined &&
    stamp.service === serviceStamp(root) &&
    stamp.sources === digestSources(root)
  );
}

/** Generates the API types. Leaves an unchanged file untouched. */
async function writeSchema(root) {
  const description = readFileSync(join(root, BUILT_DESCRIPTION), 'utf8');
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  const schema = astToString(await openapiTypescript(description));
  const path = join(root, 'console', SCHEMA);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== schema) {
    writeFileSync(`${path}.${process.pid}`, schema);
    renameSync(`${path}.${process.pid}`, path);
  }
  return schema;
}

async function build(root, stamp) {
  const dist = join(root, 'dist');
  const place = join(dist, `.console-${process.pid}`);
  const previous = join(dist, `.console-${process.pid}-previous`);
  removeRemains(dist);
  const folder = join(root, 'console');
  const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
  const { succeeded, output } = await runProgram(
    process.execPath,
    [vite, 'build', '--outDir', place, '--emptyOutDir', '--logLevel', 'warn'],
    // With NODE_ENV=test, Vite would bundle React's development build.
    { cwd: folder, env: { ...process.env, NODE_ENV: 'production' } },
  );
  if (!succeeded) throw new Error(`vite build failed:\n${output.trim()}`);
  await compressFiles(place);
  writeFileSync(join(place, STAMP), JSON.stringify(stamp));
  if (existsSync(builtFolder(root))) renameSync(builtFolder(root), previous);
  renameSync(place, builtFolder(root));
  rmSync(previous, { recursive: true, force: true });
}

/** Removes interrupted builds. The lock excludes running ones. */
function removeRemains(dist) {
  for (const name of readdirSync(dist)) {
    if (/^\.console-\d/.test(name)) rmSync(join(dist, name), { recursive: true, force: true });
  }
}

/** Compresses once at the highest level, so that no request waits for it. */
async function compressFiles(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => COMPRESSED.test(name));
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      if (bytes.length < COMPRESSED_FROM_BYTES) return;
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes));
      writeFileSync(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

function digestSources(root) {
  const folder = join(root, 'console');
  const paths = ['scripts/console.mjs'];
  const visit = (below) => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (NOT_SOURCES.has(path) || /\.spec\.tsx?$/.test(path)) continue;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile()) paths.push(`console/${path}`);
    }
  };
  if (existsSync(folder)) visit('');
  return digestFiles(root, paths.sort());
}

function readStamp(root) {
  try {
    return JSON.parse(readFileSync(join(builtFolder(root), STAMP), 'utf8'));
  } catch {
    return undefined;
  }
}

function builtFolder(root) {
  return join(root, 'dist', 'console');
}

function digestOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Publishes the build state for `/console` in a file, which any number of processes can read. Throws
 * when the folder is not writable.
 */
export function writeConsoleState(root, state) {
  const path = join(root, 'dist', '.console-state.json');
  if (state === undefined) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, JSON.stringify({ pid: process.pid, ...state }));
  renameSync(`${path}.${process.pid}`, path);
}

/** Returns one line for a log or a page. */
export function reasonOf(error) {
  const [, code] = NO_NETWORK.exec(error.message) ?? [];
  if (code !== undefined) return `the package registry cannot be reached (${code})`;
  const [first = '', ...others] = error.message
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return [first.replace(/:$/, ''), others[0]].filter(Boolean).join(': ').slice(0, 300);
}

/** Ends this process and its children, which form a process group. */
function endAll() {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } finally {
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isBehind = process.argv[2] === 'behind';
  try {
    if (isBehind) {
      process.once('disconnect', endAll);
      // Inherited by npm and Vite.
      setPriority(constants.priority.PRIORITY_LOW);
    }
    await ensureInstalled({ say: console.log, toRun: true });
    const onStep = (step) => writeConsoleState(PROJECT_ROOT, { step });
    await ensureConsole({ say: console.log, onStep });
    writeConsoleState(PROJECT_ROOT, undefined);
  } catch (error) {
    const problem = reasonOf(error);
    try {
      writeConsoleState(PROJECT_ROOT, { problem });
    } catch {
      // Nobody can be told where nothing can be written.
    }
    console.error(
      isBehind
        ? `The console could not be built: ${problem}. The service runs without it; npm run build:console tries again.`
        : error.message,
    );
    process.exitCode = 1;
  }
  process.off('disconnect', endAll);
  if (process.connected) process.disconnect();
}
