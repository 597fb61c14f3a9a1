import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfPossible } from './processes.js';
import { createWholeFile, readIfThere } from './whole-file.js';
import { messageOf } from '../errors/thrown.js';

/** Marks a data folder whose database was moved to a server, and prevents a start. */
const MOVED_FILE = 'DATABASE-WAS-MOVED.txt';
/** Warns anyone who copies a data folder that its cluster is elsewhere. */
const ELSEWHERE_FILE = 'DATABASE-IS-NOT-HERE.txt';
/** Holds the path of that other folder. */
const POINTER_FILE = 'postgres-location';
/** In that folder, holds the path of the data folder. */
const OWNER_FILE = 'belongs-to';

/** Parent of clusters whose data folder `nobody` cannot enter. */
const DEFAULT_FALLBACK_ROOT = '/var/lib/model-gateway';

/** The embedded database cannot be used. The message says why and what to do, in one or two lines. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export interface EmbeddedPostgresOptions {
  /** The gateway's data folder; created when missing. */
  dataDirectory: string;
  /** Parent of clusters whose data folder `nobody` cannot enter. */
  fallbackRoot?: string;
  /** True when the role of a new cluster may create databases. Only tests need that. */
  createsDatabases?: boolean;
  /** Receives one line per event that operators should know about. */
  log?: (line: string) => void;
}

/** The system account a PostgreSQL runs as when Node is root, since PostgreSQL refuses root. */
export interface PostgresAccount {
  uid: number;
  gid: number;
}

/** Paths and account of one PostgreSQL cluster. The data folder contains no symbolic links. */
export interface Cluster extends Required<EmbeddedPostgresOptions> {
  /** PostgreSQL's own folder. */
  clusterFolder: string;
  /** Names the Node process that has the cluster open. */
  lockFile: string;
  /** PostgreSQL's output. */
  logFile: string;
  passwordFile: string;
  /** Where to copy the binaries when they cannot be used in place. */
  binariesFolder: string;
  /** The account that runs PostgreSQL; undefined for Node's own. */
  account?: PostgresAccount;
}

const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * Finds the cluster of a data folder, or chooses its place on the first start: the subfolder
 * `postgres`, or a folder under `fallbackRoot` when Node is root and PostgreSQL's account cannot
 * enter the data folder. The file `postgres-location` in the data folder then names it.
 */
export function locateCluster({
  dataDirectory,
  fallbackRoot = DEFAULT_FALLBACK_ROOT,
  createsDatabases = false,
  log = () => undefined,
}: EmbeddedPostgresOptions): Cluster {
  const folder = realpathSync(makeFolder(dataDirectory));
  assertNotMoved(folder);
  const inside = join(folder, 'postgres');
  const parent =
    readPointer(folder) ?? openInside(folder, inside) ?? chooseFallback(folder, fallbackRoot);
  if (parent !== inside) writeNote(join(folder, ELSEWHERE_FILE), elsewhereText(parent));
  const clusterFolder = join(parent, 'cluster');
  return {
    dataDirectory: folder,
    fallbackRoot,
    createsDatabases,
    log,
    clusterFolder,
    lockFile: join(parent, 'owner.lock'),
    logFile: join(parent, 'postgres.log'),
    passwordFile: join(folder, 'postgres-password'),
    binariesFolder: join(isRoot() ? fallbackRoot : folder, 'postgres-binaries'),
    account: chooseAccount(clusterFolder),
  };
}

/** Returns the account `nobody`, with its usual ids when the system does not list it. */
export function nobodyAccount(): PostgresAccount {
  const accounts = readIfPossible('/etc/passwd') ?? '';
  const line = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(accounts);
  return { uid: Number(line?.[1] ?? 65534), gid: Number(line?.[2] ?? 65534) };
}

/**
 * Returns the first folder on the way to `path` that the account may not pass through, or `path`
 * itself when the account lacks a permission in `wanted` (4 read, 2 write, 1 execute or enter).
 *
 * @param path without symbolic links
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
 * Returns the account to run PostgreSQL as. Root runs an existing cluster as its owner, so that one
 * `sudo` does not lock the owner out.
 *
 * @throws EmbeddedPostgresError when Node is not root and the cluster belongs to another user
 */
function chooseAccount(clusterFolder: string): PostgresAccount | undefined {
  const owner = lookUp(clusterFolder);
  if (isRoot()) return owner === undefined || owner.uid === 0 ? nobodyAccount() : owner;
  if (owner === undefined || process.getuid === undefined || owner.uid === process.getuid()) {
    return undefined;
  }
  throw new EmbeddedPostgresError(
    `The database in ${clusterFolder} belongs to the user with id ${owner.uid}. ` +
      'Start the gateway as root or as that user, or set GATEWAY_DATA_DIR to another folder.',
  );
}

/** Returns the owner of a file or folder; undefined when it does not exist. */
function lookUp(path: string): PostgresAccount | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Creates the subfolder. Returns undefined when PostgreSQL's account cannot reach it and there is no cluster yet. */
function openInside(dataDirectory: string, inside: string): string | undefined {
  const clusterFolder = join(inside, 'cluster');
  const account = chooseAccount(clusterFolder);
  const blocked = account && findBlocked(lookUp(inside) ? inside : dataDirectory, account);
  if (blocked === undefined) return makeFolder(inside);
  if (lookUp(clusterFolder) === undefined) return undefined;
  throw new EmbeddedPostgresError(
    `The database in ${clusterFolder} cannot be reached by the account it runs as. ` +
      `Allow passing through ${blocked} (chmod o+x), or move the data folder elsewhere.`,
  );
}

/**
 * Returns the folder that a data folder names as the place of its cluster.
 *
 * @throws EmbeddedPostgresError when it is missing or belongs to another data folder
 */
function readPointer(dataDirectory: string): string | undefined {
  const pointer = join(dataDirectory, POINTER_FILE);
  const folder = readIfThere(pointer);
  if (folder === undefined) return undefined;
  if (lookUp(folder) === undefined) {
    throw new EmbeddedPostgresError(
      `The database folder ${folder} is missing. Put it back, or delete the file ${pointer} to start with an ` +
        `empty database. ${dataDirectory} only names that folder: a copy of it has no data. ` +
        `Make copies with "npm run gateway -- backup" (docs/backup.md).`,
    );
  }
  const owner = readIfThere(join(folder, OWNER_FILE)) ?? dataDirectory;
  if (owner !== dataDirectory && readIfThere(join(owner, POINTER_FILE)) === folder) {
    throw new EmbeddedPostgresError(
      `${dataDirectory} is a copy of ${owner} without data of its own: it only names the database in ` +
        `${folder}. To start with an empty database, delete the file ${pointer}. To copy the data, run ` +
        `"npm run gateway -- backup" there and "restore" here (docs/backup.md).`,
    );
  }
  // The data folder may have been moved.
  writeNote(join(folder, OWNER_FILE), `${dataDirectory}\n`);
  return folder;
}

/**
 * Creates a folder under `fallbackRoot` and names it in the pointer file. Its name is random, so
 * that deleting the data folder leads to an empty database, not to the old one without its secrets.
 */
function chooseFallback(dataDirectory: string, fallbackRoot: string): string {
  const folder = join(fallbackRoot, randomBytes(8).toString('hex'));
  try {
    makeFolder(fallbackRoot, 0o755);
    const blocked = findBlocked(realpathSync(fallbackRoot), nobodyAccount());
    if (blocked !== undefined)
      throw new Error(`the account nobody may not pass through ${blocked}`);
    makeFolder(folder);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The database fits neither in ${dataDirectory}, which PostgreSQL may not enter as nobody, ` +
        `nor in ${fallbackRoot}: ${messageOf(error)}. ` +
        'Set GATEWAY_DATA_DIR to a folder that every user may pass through, or set DATABASE_URL.',
    );
  }
  writeFileSync(join(folder, OWNER_FILE), `${dataDirectory}\n`);
  if (createWholeFile(join(dataDirectory, POINTER_FILE), `${folder}\n`)) return folder;
  // Another process that started at the same time was faster; its choice applies to both.
  rmSync(folder, { recursive: true });
  return readPointer(dataDirectory) ?? folder;
}

/**
 * Creates a folder with exactly this mode, whatever the umask, and leaves an existing one unchanged.
 * Root lets PostgreSQL's account pass through; the files inside have their own permissions.
 */
function makeFolder(path: string, mode = isRoot() ? 0o711 : 0o700): string {
  if (mkdirSync(path, { recursive: true }) !== undefined) chmodSync(path, mode);
  return path;
}

/** Best effort: a folder that cannot be written fails where that matters. */
function writeNote(path: string, text: string): void {
  try {
    if (readIfThere(path) !== text.trim()) writeFileSync(path, text);
  } catch {
    // Not needed for the start.
  }
}

/**
 * Marks a data folder's database as moved to `place`; the embedded one no longer starts.
 *
 * @returns a function that removes the mark
 */
export function markAsMoved(dataDirectory: string, place: string): () => void {
  const file = join(dataDirectory, MOVED_FILE);
  writeFileSync(file, movedText(place, new Date()), { mode: 0o644 });
  return () => rmSync(file, { force: true });
}

function assertNotMoved(dataDirectory: string): void {
  const file = join(dataDirectory, MOVED_FILE);
  const [firstLine] = readIfThere(file)?.split('\n', 1) ?? [];
  if (firstLine === undefined) return;
  throw new EmbeddedPostgresError(
    `${firstLine} Set DATABASE_URL to it. ${file} explains that, and how to go back.`,
  );
}

function movedText(place: string, now: Date): string {
  return `The database of this service was moved to ${place} on ${now.toISOString()}.
Start the service with DATABASE_URL set to it, and with the same GATEWAY_SECRET.

The folder "postgres" has the data as of that time and is not used now: later charges are only in the new
place. Keep it until you have a first backup of the new database, then delete it.

If the data is not there because the move was interrupted, delete this file. The service then starts with
the database in this folder. Do not do that once the service has run with the new database.
`;
}

function elsewhereText(folder: string): string {
  return `The database of this service is not in this folder.

It is in ${folder}, because the account that PostgreSQL runs as cannot enter this folder.
A COPY OF THIS FOLDER IS NO COPY OF THE DATA: it has no tenants, keys, credits or logs.
A container that keeps only this folder loses all of them with its next image.

To copy the data:      npm run gateway -- backup FILE     (docs/backup.md)
To move it in here:    make a backup, set GATEWAY_DATA_DIR to a new folder that every user may pass
                       through (chmod o+x on each parent folder), and restore there.
`;
}
