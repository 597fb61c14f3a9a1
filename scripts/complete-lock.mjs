/**
 * `npm run lock:complete`: adds to package-lock.json, and to the console's, the optional packages that
 * npm left out because the registry in use lacks them. `npm ci` rejects a lock file without them. Run
 * it after each `npm install`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './project-root.mjs';
import { runNpm } from './run-program.mjs';

const EXACT_VERSION = /^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/;
const SYSTEMS = {
  aix: 'aix',
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  linuxmusl: 'linux',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win32: 'win32',
  windows: 'win32',
};
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];

for (const folder of ['.', 'console']) {
  const added = await completeLock(join(PROJECT_ROOT, folder, 'package-lock.json'));
  const lines = added.map((line) => `added ${line}\n`).join('');
  console.log(`${lines}${join(folder, 'package-lock.json')}: ${added.length} packages added`);
}

/** Returns the added packages as `name@version`. */
async function completeLock(path) {
  const lock = JSON.parse(readFileSync(path, 'utf8'));
  const added = [];
  for (const owner of Object.keys(lock.packages)) {
    const { optionalDependencies = {}, dev } = lock.packages[owner];
    for (const [name, range] of Object.entries(optionalDependencies)) {
      if (!isMissing(lock, owner, name, range)) continue;
      const place = lock.packages[`node_modules/${name}`] === undefined ? '' : `${owner}/`;
      const entry = await describePackage(name, range);
      lock.packages[`${place}node_modules/${name}`] = { ...entry, dev, optional: true };
      added.push(`${name}@${entry.version}`);
    }
  }
  if (added.length > 0) {
    const [root, ...others] = Object.entries(lock.packages);
    others.sort(([left], [right]) => left.localeCompare(right, 'en'));
    lock.packages = Object.fromEntries([root, ...others]);
    writeFileSync(path, JSON.stringify(lock, null, 2) + '\n');
  }
  return added;
}

/** Searches like Node: next to the owner's own dependencies, then outwards. */
function isMissing(lock, owner, name, range) {
  for (let folder = owner; ; folder = outerFolder(folder)) {
    const found = lock.packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`];
    if (found !== undefined) {
      return EXACT_VERSION.test(range) && found.version !== range;
    }
    if (folder === '') {
      return true;
    }
  }
}

function outerFolder(folder) {
  const end = folder.lastIndexOf('node_modules/');
  return folder.slice(0, Math.max(end - 1, 0));
}

async function describePackage(name, range) {
  if (EXACT_VERSION.test(range)) {
    return { version: range, ...describeTarget(name) };
  }
  // prettier-ignore
  const parameters = ['view', `${name}@${range}`, 'version', 'os', 'cpu', 'libc', 'engines', '--json'];
  const { succeeded, output } = await runNpm([...parameters, '--loglevel=silent'], {
    cwd: PROJECT_ROOT,
  });
  if (!succeeded) {
    throw new Error(`The registry has no ${name}@${range}, which package-lock.json needs`);
  }
  const answer = JSON.parse(output);
  const { version, os, cpu, libc, engines } = Array.isArray(answer) ? answer.at(-1) : answer;
  return { version, os, cpu, libc, engines };
}

/** Reads the target from the package name: `@swc/core-linux-arm64-musl`. */
function describeTarget(name) {
  const words = name.split(/[/-]/);
  const system = words.map((word) => SYSTEMS[word]).find(Boolean);
  const processor = words.find((word) => PROCESSORS.includes(word));
  const isMusl = words.some((word) => word.includes('musl'));
  const isGnu = words.some((word) => word.startsWith('gnu'));
  return {
    cpu: processor && [processor],
    os: system && [system],
    libc: system === 'linux' && (isMusl || isGnu) ? [isMusl ? 'musl' : 'glibc'] : undefined,
  };
}
