import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync, symlinkSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { removeAbandoned } from './remove-abandoned.js';
import { findBlockingFolder, hasPermission, type PostgresAccount } from './postgres-account.js';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** As in a cluster's PG_VERSION: `18`. */
  majorVersion: string;
}

/**
 * Finds the binaries that the optional package of this platform brings. When the account may not
 * reach them, or links that the package needs cannot be made beside them, they are copied once to
 * `copiesFolder`.
 */
export async function preparePostgresBinaries(
  copiesFolder: string,
  account: PostgresAccount | undefined,
): Promise<PostgresBinaries> {
  const { folder, name, version } = findPackage();
  let native = join(folder, 'native');
  if (!makeLinks(native) || (account !== undefined && !isUsable(native, account))) {
    native = await copyBinaries(native, join(copiesFolder, `${name}-${version}`), account);
  }
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(native, 'bin', `initdb${suffix}`),
    postgres: join(native, 'bin', `postgres${suffix}`),
    majorVersion: version.split('.')[0] ?? '',
  };
}

function findPackage(): { folder: string; name: string; version: string } {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // Only the package's entry can be resolved; it lies in `dist`.
    const entry = createRequire(import.meta.url).resolve(name);
    const folder = realpathSync(dirname(dirname(entry)));
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      version: string;
    };
    return { folder, name: basename(name), version: manifest.version };
  } catch {
    throw new EmbeddedPostgresError(
      `No embedded PostgreSQL is installed for this system (package ${name}): ` +
        'set DATABASE_URL to a PostgreSQL server of your own.',
    );
  }
}

/**
 * A package cannot hold symbolic links; its postinstall script makes them. Where scripts are not
 * run we make them. Answers false when they are missing and this folder cannot be written.
 */
function makeLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) {
    return true;
  }
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(dirname(native), target);
    const goal = relative(dirname(target), source);
    try {
      if (!existsSync(path)) {
        symlinkSync(goal, path);
      }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== 'EEXIST') {
        return false;
      }
    }
  }
  return true;
}

/** Looks at one file of each kind, since an installation under a strict umask closes them all. */
function isUsable(native: string, account: PostgresAccount): boolean {
  const bin = join(native, 'bin');
  const share = join(native, 'share', 'postgresql');
  return (
    findBlockingFolder(bin, account) === undefined &&
    findBlockingFolder(join(native, 'lib'), account) === undefined &&
    findBlockingFolder(share, account) === undefined &&
    hasPermission(join(bin, 'postgres'), account, 0o5) &&
    hasPermission(join(share, 'postgres.bki'), account, 0o4)
  );
}

/** Copies under another name and renames, so that a copy with this name is always whole. */
async function copyBinaries(
  native: string,
  copy: string,
  account: PostgresAccount | undefined,
): Promise<string> {
  const target = join(copy, 'native');
  if (!existsSync(target)) {
    const partial = `${copy}.partial-${randomBytes(4).toString('hex')}`;
    try {
      await mkdir(dirname(copy), { recursive: true });
      await chmod(dirname(copy), 0o755);
      removeAbandoned(dirname(copy), `${basename(copy)}.partial-`);
      await cp(native, join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
      await openForReading(partial);
      makeLinks(join(partial, 'native'));
      await rename(partial, copy);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      if (!existsSync(target)) {
        throw new EmbeddedPostgresError(
          `PostgreSQL's binaries in ${native} cannot be used by the account it runs as, nor copied ` +
            `to ${dirname(copy)}: ${(error as Error).message}. Set DATABASE_URL to a server of your own.`,
        );
      }
    }
  }
  const blocked = account === undefined ? undefined : findBlockingFolder(target, account);
  if (blocked !== undefined) {
    throw new EmbeddedPostgresError(
      `PostgreSQL's binaries in ${target} cannot be reached by the account it runs as: ` +
        `allow passing through ${blocked} (chmod o+x).`,
    );
  }
  return target;
}

/** Lets everybody read a tree, and run what its owner may run. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      await openForReading(path);
    } else if (entry.isFile()) {
      await chmod(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
    }
  }
}
