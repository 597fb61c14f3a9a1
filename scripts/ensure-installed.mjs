import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './project-root.mjs';
import { runNpm, secondsSince } from './run-program.mjs';
import { withSetupLock } from './setup-lock.mjs';

/**
 * Installs what package-lock.json lists, unless it is installed. Throws npm's message on failure.
 *
 * @param options.of owner of the packages when the folder is not the project's
 * @param options.toRun leaves out development packages, half of all. The build tools are optional
 *   packages, so that starting the service does not wait for test packages
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
  say(`Installing packages${whose} (once; this may take a minute)`);
  // Only adds packages, because a running service may still load existing ones.
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
    // The reason comes first; npm may add a list of its options.
    throw new Error(`npm ci failed:\n${output.trim().split('\n').slice(0, 12).join('\n')}`);
  }
  const missing = missingTools(root);
  if (missing.length > 0) {
    // npm does not report optional packages that it could not fetch.
    throw new Error(`npm ci left out ${missing.join(', ')}. Start again to retry.`);
  }
  writeFileSync(stampFile(root), describeInstallation(root, toRun));
  say(`Packages${whose} installed (${secondsSince(startedAtMs)})`);
}

/**
 * A matching stamp marks an installation made here. Without one, the packages are compared with the
 * lock file, so that a manual `npm ci` counts too. npm's own record of the installation is unreliable:
 * `npm install --package-lock-only` changes it without installing anything.
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

/** Returns whether each package has the lock file's version; development packages only if wanted. */
function holds(root, toRun) {
  return (
    missingTools(root).length === 0 &&
    Object.entries(packagesOf(root)).every(([path, entry]) => {
      if (path === '' || entry.link || (toRun && entry.dev)) {
        return true;
      }
      const manifest = readIfThere(join(root, path, 'package.json'));
      // The lock file lists optional packages of other systems, which are never installed.
      return manifest === undefined
        ? isOptional(entry)
        : JSON.parse(manifest).version === entry.version;
    })
  );
}

/** Returns missing optional packages of the project that are available on every system. */
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
 * Line 1: the system, because some packages depend on it. Line 2: the lock file. Line 3: the installed
 * part, if not everything.
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
