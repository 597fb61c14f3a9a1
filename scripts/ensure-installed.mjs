import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './project-root.mjs';
import { runNpm, secondsSince } from './run-program.mjs';
import { withSetupLock } from './setup-lock.mjs';

/**
 * Installs exactly what package-lock.json says, unless it is there already. Throws with npm's own words when
 * that fails.
 *
 * @param options.of whose packages they are, where the folder is not the project's
 * @param options.toRun leaves out the development packages, half of all: who only starts the service waits for what
 *   builds it, which is among the optional packages, and for no test's
 */
export async function ensureInstalled({
  root = PROJECT_ROOT,
  of,
  toRun = false,
  say = () => {},
} = {}) {
  if (isInstalled(root, toRun)) {
    return;
  }
  await withSetupLock(root, say, async () => {
    if (!isInstalled(root, toRun)) {
      await install({ root, say, toRun, whose: of === undefined ? '' : ` of ${of}` });
    }
  });
}

async function install({ root, say, toRun, whose }) {
  const startedAtMs = Date.now();
  say(`Installing packages${whose}: once, it may take a minute`);
  // Adds what is not there yet: a service that runs meanwhile may still load some of what is.
  const isBegun = !toRun && readIfThere(stampFile(root)) === describeInstallation(root, true);
  const { succeeded, output } = await runNpm(
    [
      ...(isBegun ? ['install', '--no-save'] : ['ci']),
      toRun ? '--omit=dev' : '--include=dev',
      '--include=optional',
      '--loglevel=error',
      '--no-progress',
    ],
    { cwd: root },
  );
  if (!succeeded) {
    // The reason comes first; a list of npm's options may follow it.
    throw new Error(`npm ci failed:\n${output.trim().split('\n').slice(0, 12).join('\n')}`);
  }
  const missing = missingTools(root);
  if (missing.length > 0) {
    // Of optional packages npm tells nobody that they could not be fetched.
    throw new Error(`npm ci left out ${missing.join(', ')}: start again to try again`);
  }
  writeFileSync(stampFile(root), describeInstallation(root, toRun));
  say(`Packages${whose} installed (${secondsSince(startedAtMs)})`);
}

/**
 * The stamp tells of an installation made here. Without a fitting one, the packages themselves are
 * compared with the lock file, so that an `npm ci` by hand counts as well. What npm notes about its
 * last installation is no proof: `npm install --package-lock-only` changes it and installs nothing.
 */
function isInstalled(root, toRun) {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    return false;
  }
  const stamp = readIfThere(stampFile(root));
  const everything = describeInstallation(root, false);
  const wanted = describeInstallation(root, toRun);
  if (stamp === everything || stamp === wanted) {
    return true;
  }
  const isOtherSystem = stamp !== undefined && systemOf(stamp) !== systemOf(wanted);
  if (isOtherSystem || !holds(root, toRun)) {
    return false;
  }
  writeFileSync(stampFile(root), wanted);
  return true;
}

/** Whether each package is there in the version of the lock file, those for development only where they are wanted. */
function holds(root, toRun) {
  return (
    missingTools(root).length === 0 &&
    Object.entries(packagesOf(root)).every(([path, entry]) => {
      if (path === '' || entry.link || (toRun && entry.dev)) {
        return true;
      }
      const manifest = readIfThere(join(root, path, 'package.json'));
      // Optional packages of other systems are in the lock file, but never installed.
      return manifest === undefined
        ? isOptional(entry)
        : JSON.parse(manifest).version === entry.version;
    })
  );
}

/** What the project itself names as optional and every system can have. */
function missingTools(root) {
  const packages = packagesOf(root);
  return Object.keys(packages[''].optionalDependencies ?? {}).filter(
    (name) =>
      packages[`node_modules/${name}`]?.os === undefined &&
      !existsSync(join(root, 'node_modules', name, 'package.json')),
  );
}

function packagesOf(root) {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

function stampFile(root) {
  return join(root, 'node_modules', '.gateway-install');
}

/**
 * First line: the system, since some packages differ between systems; second: the lock file; third, where not
 * everything of it is there: what is.
 */
function describeInstallation(root, toRun) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex');
  return `${process.platform}-${process.arch}\n${digest}\n${toRun ? 'to run\n' : ''}`;
}

function systemOf(stamp) {
  return stamp.split('\n')[0];
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
