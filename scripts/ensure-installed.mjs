import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './project-root.mjs';
import { runNpm, secondsSince } from './run-program.mjs';
import { withSetupLock } from './setup-lock.mjs';

/**
 * Installs exactly what package-lock.json says, development packages included (the build needs
 * them), unless it is there already. Throws with npm's own words when that fails.
 *
 * @param options.of whose packages they are, where the folder is not the project's
 */
export async function ensureInstalled({ root = PROJECT_ROOT, of, say = () => {} } = {}) {
  if (isInstalled(root)) {
    return;
  }
  await withSetupLock(root, say, async () => {
    if (!isInstalled(root)) {
      await install(root, say, of === undefined ? '' : ` of ${of}`);
    }
  });
}

async function install(root, say, whose) {
  const startedAtMs = Date.now();
  say(`Installing packages${whose}: once, it may take a minute`);
  const { succeeded, output } = await runNpm(
    ['ci', '--include=dev', '--include=optional', '--loglevel=error', '--no-progress'],
    { cwd: root },
  );
  if (!succeeded) {
    // The reason comes first; a list of npm's options may follow it.
    throw new Error(`npm ci failed:\n${output.trim().split('\n').slice(0, 12).join('\n')}`);
  }
  writeFileSync(stampFile(root), describeInstallation(root));
  say(`Packages${whose} installed (${secondsSince(startedAtMs)})`);
}

/**
 * The stamp tells of an installation made here. Without a fitting one, the packages themselves are
 * compared with the lock file, so that an `npm ci` by hand counts as well. What npm notes about its
 * last installation is no proof: `npm install --package-lock-only` changes it and installs nothing.
 */
function isInstalled(root) {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    return false;
  }
  const stamp = readIfThere(stampFile(root));
  const wanted = describeInstallation(root);
  if (stamp === wanted) {
    return true;
  }
  const isOtherSystem = stamp !== undefined && systemOf(stamp) !== systemOf(wanted);
  if (isOtherSystem || !holdsEverything(root)) {
    return false;
  }
  writeFileSync(stampFile(root), wanted);
  return true;
}

function holdsEverything(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages).every(([path, entry]) => {
    if (path === '' || entry.link) {
      return true;
    }
    const manifest = readIfThere(join(root, path, 'package.json'));
    // Optional packages of other systems are in the lock file, but never installed.
    return manifest === undefined
      ? isOptional(entry)
      : JSON.parse(manifest).version === entry.version;
  });
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

function stampFile(root) {
  return join(root, 'node_modules', '.gateway-install');
}

/** First line: the system, since some packages differ between systems; second: the lock file. */
function describeInstallation(root) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex');
  return `${process.platform}-${process.arch}\n${digest}\n`;
}

function systemOf(stamp) {
  return stamp.split('\n')[0];
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
