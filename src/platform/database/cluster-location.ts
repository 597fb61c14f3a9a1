import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createWholeFile } from './whole-file.js';
import { messageOf } from '../errors/thrown.js';

/** Where clusters lie that `nobody` could not reach inside the data folder. */
export const DEFAULT_FALLBACK_ROOT = '/var/lib/model-gateway';

/** The embedded database cannot be used; the message says why and what to do, in one or two lines. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** The system account a PostgreSQL runs as when Node is root, since PostgreSQL refuses root. */
export interface PostgresAccount {
  uid: number;
  gid: number;
}

export interface ClusterLocation {
  /** The gateway's data folder, without symbolic links. */
  dataDirectory: string;
  /** PostgreSQL's own folder. */
  clusterFolder: string;
  /** Names the Node process that owns the cluster. */
  lockFile: string;
  /** What PostgreSQL prints. */
  logFile: string;
  passwordFile: string;
  /** Where the binaries may be copied when they cannot be used where they are. */
  binariesFolder: string;
  /** The account to run PostgreSQL as; undefined: the one Node runs as. */
  account?: PostgresAccount;
}

const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * Finds, or decides on the first start, where the cluster of a data folder lies: in its folder
 * `postgres`, or under `fallbackRoot` when Node is root and the account that PostgreSQL needs
 * cannot get into the data folder. Then the file `postgres-location` in the data folder names it.
 */
export function locateCluster(dataDirectory: string, fallbackRoot: string): ClusterLocation {
  const folder = openDataDirectory(dataDirectory);
  const describe = (parent: string): ClusterLocation => {
    const clusterFolder = join(parent, 'cluster');
    return {
      dataDirectory: folder,
      clusterFolder,
      lockFile: join(parent, 'owner.lock'),
      logFile: join(parent, 'postgres.log'),
      passwordFile: join(folder, 'postgres-password'),
      binariesFolder: join(isRoot() ? fallbackRoot : folder, 'postgres-binaries'),
      account: chooseAccount(clusterFolder),
    };
  };
  const chosen = readPointer(folder);
  if (chosen !== undefined) return describe(chosen);
  const inside = join(folder, 'postgres');
  const location = describe(inside);
  const { account, clusterFolder } = location;
  const blocked = account && findBlocked(lookUp(inside) ? inside : folder, account);
  if (blocked === undefined) {
    makeFolder(inside, isRoot() ? 0o711 : 0o700);
    return location;
  }
  if (lookUp(clusterFolder) === undefined) return describe(chooseFallback(folder, fallbackRoot));
  throw new EmbeddedPostgresError(
    `The database in ${clusterFolder} cannot be reached by the account it runs as: ` +
      `allow passing through ${blocked} (chmod o+x), or move the data folder elsewhere.`,
  );
}

/** The account `nobody`. */
export function nobodyAccount(): PostgresAccount {
  let accounts = '';
  try {
    accounts = readFileSync('/etc/passwd', 'utf8');
  } catch {
    // The numbers below are the usual ones.
  }
  const line = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(accounts);
  return { uid: Number(line?.[1] ?? 65534), gid: Number(line?.[2] ?? 65534) };
}

/**
 * The first part of the way to `path` that keeps the account out, or `path` itself when the account
 * may not do all of `wanted` with it (4 read, 2 write, 1 run or enter). `path` must be real: no
 * symbolic links.
 */
export function findBlocked(
  path: string,
  account: PostgresAccount,
  wanted = 0o1,
): string | undefined {
  const { uid, gid, mode } = statSync(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  const outside = dirname(path) === path ? undefined : findBlocked(dirname(path), account);
  return outside ?? (((mode >> shift) & wanted) === wanted ? undefined : path);
}

/**
 * Root runs an existing cluster as the user it belongs to, so that one `sudo` does not take it away
 * from them. Throws when Node is a normal user and the cluster is somebody else's.
 */
function chooseAccount(clusterFolder: string): PostgresAccount | undefined {
  const owner = lookUp(clusterFolder);
  if (isRoot()) return owner === undefined || owner.uid === 0 ? nobodyAccount() : owner;
  if (owner === undefined || process.getuid === undefined || owner.uid === process.getuid()) {
    return undefined;
  }
  throw new EmbeddedPostgresError(
    `The database in ${clusterFolder} belongs to the user with id ${owner.uid}: ` +
      'start the gateway as root or as that user, or set GATEWAY_DATA_DIR to another folder.',
  );
}

/** Who a file or folder belongs to; undefined when there is none. */
function lookUp(path: string): PostgresAccount | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The database in ${path} cannot be opened: ${messageOf(error)}.`,
    );
  }
}

function openDataDirectory(path: string): string {
  try {
    // Root lets the account of PostgreSQL pass through; the files inside guard themselves.
    return realpathSync(makeFolder(path, isRoot() ? 0o711 : 0o700));
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The data folder ${path} cannot be used: ${messageOf(error)}. ` +
        'Set GATEWAY_DATA_DIR to a folder that can be written, or set DATABASE_URL.',
    );
  }
}

const pointerFile = (dataDirectory: string): string => join(dataDirectory, 'postgres-location');

function readPointer(dataDirectory: string): string | undefined {
  const pointer = pointerFile(dataDirectory);
  if (statSync(pointer, { throwIfNoEntry: false }) === undefined) return undefined;
  const folder = readFileSync(pointer, 'utf8').trim();
  if (lookUp(folder) !== undefined) return folder;
  throw new EmbeddedPostgresError(
    `The database folder ${folder} is gone. Put it back, or delete the file ${pointer} ` +
      'to start with an empty database.',
  );
}

/**
 * Makes a folder under `fallbackRoot` and names it in the pointer file. Its name is random: who
 * deletes the data folder gets an empty database, not the old one without its secrets.
 */
function chooseFallback(dataDirectory: string, fallbackRoot: string): string {
  const folder = join(fallbackRoot, randomBytes(8).toString('hex'));
  try {
    makeFolder(fallbackRoot, 0o755);
    const blocked = findBlocked(realpathSync(fallbackRoot), nobodyAccount());
    if (blocked !== undefined)
      throw new Error(`the account nobody may not pass through ${blocked}`);
    makeFolder(folder, 0o711);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The database can lie neither in ${dataDirectory}, which PostgreSQL may not enter as nobody, ` +
        `nor in ${fallbackRoot}: ${messageOf(error)}. ` +
        'Set GATEWAY_DATA_DIR to a folder that everybody may pass through, or set DATABASE_URL.',
    );
  }
  writeFileSync(join(folder, 'belongs-to'), `${dataDirectory}\n`);
  if (createWholeFile(pointerFile(dataDirectory), `${folder}\n`)) return folder;
  // Another process starting at the same moment was faster: its choice holds for both.
  rmSync(folder, { recursive: true });
  return readPointer(dataDirectory) ?? folder;
}

/** Makes a folder with exactly this mode, whatever the umask; one that exists is left as it is. */
function makeFolder(path: string, mode: number): string {
  if (mkdirSync(path, { recursive: true }) !== undefined) chmodSync(path, mode);
  return path;
}
