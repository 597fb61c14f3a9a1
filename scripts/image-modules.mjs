/**
 * Decides which part of `node_modules` goes into the image, for docker/Dockerfile and `npm run image:size`:
 *   node scripts/image-modules.mjs prune FOLDER   removes files that are never loaded
 *   node scripts/image-modules.mjs size           sums up the rest and fails above the limit
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROJECT_ROOT } from './project-root.mjs';

/** Size limit of the image's modules in megabytes (10^6 bytes). */
export const MODULES_BOUND_MB = 100;

/** Declarations, sources and maps. Node loads no TypeScript from packages, and no debugger runs there. */
const NEVER_LOADED = /\.(?:[cm]?ts|map|tsbuildinfo|flow)$/;

/**
 * Folders used only in other environments according to `exports` or `main`: browsers, old bundlers,
 * React Native. By package, because the same folder name elsewhere may be needed.
 */
const UNUSED_FOLDERS = {};

/** Returns whether Node never loads a file, given its path below `node_modules`. */
export function isNeverLoaded(path) {
  const [, name = '', rest = ''] =
    /(?:^|.*node_modules\/)((?:@[^/]+\/)?[^/]+)\/(.*)$/.exec(path.split(sep).join('/')) ?? [];
  const folders = UNUSED_FOLDERS[name] ?? [];
  return NEVER_LOADED.test(rest) || folders.some((folder) => rest.startsWith(`${folder}/`));
}

/** Removes files that are never loaded. Returns the number of bytes freed. */
export function prune(folder) {
  let freed = 0;
  for (const { path, bytes } of filesOf(folder)) {
    if (!isNeverLoaded(relative(folder, path))) continue;
    rmSync(path);
    freed += bytes;
  }
  return freed;
}

/**
 * Returns the packages of the image with their remaining bytes, largest first. These are the lock
 * file's packages that are neither for development nor optional.
 */
export function measure(root = PROJECT_ROOT) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const sizes = new Map();
  for (const [place, { dev, optional, devOptional }] of Object.entries(packages)) {
    const folder = join(root, place);
    if (place === '' || dev || optional || devOptional || !existsSync(folder)) continue;
    let total = 0;
    for (const { path, bytes } of filesOf(folder, { isNested: true })) {
      if (!isNeverLoaded(relative(join(root, 'node_modules'), path))) total += bytes;
    }
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    sizes.set(name, (sizes.get(name) ?? 0) + total);
  }
  return [...sizes]
    .map(([name, bytes]) => ({ name, bytes }))
    .sort((one, other) => other.bytes - one.bytes);
}

/** @param options.isNested whether to skip nested packages, which are counted separately */
function* filesOf(folder, { isNested = false } = {}) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!isNested || entry.name !== 'node_modules') yield* filesOf(path, { isNested });
    } else if (entry.isFile()) yield { path, bytes: statSync(path).size };
  }
}

function megabytes(bytes) {
  return (bytes / 1_000_000).toFixed(1);
}

function report() {
  const sizes = measure();
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of sizes.slice(0, 20)) {
    console.log(`${megabytes(bytes).padStart(7)} MB  ${name}`);
  }
  console.log(
    `${megabytes(total).padStart(7)} MB  ${sizes.length} packages, ${MODULES_BOUND_MB} MB at most`,
  );
  if (total > MODULES_BOUND_MB * 1_000_000) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , command, folder] = process.argv;
  if (command === 'prune' && folder) console.log(`${megabytes(prune(folder))} MB removed`);
  else if (command === 'size') report();
  else {
    console.error('Usage: node scripts/image-modules.mjs prune FOLDER | size');
    process.exitCode = 1;
  }
}
