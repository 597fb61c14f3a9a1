import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfPossible } from './processes.js';
import { createWholeFile, readIfThere } from './whole-file.js';
import { messageOf } from '../errors/thrown.js';

/** In a data folder whose database was moved to a server: says so, and stops the start. */
const MOVED_FILE = 'DATABASE-WAS-MOVED.txt';
/** In a data folder whose cluster lies elsewhere: says so to whoever copies the folder. */
const ELSEWHERE_FILE = 'DATABASE-IS-NOT-HERE.txt';
/** Names the folder where it lies then. */
const POINTER_FILE = 'postgres-location';
/** Names, in that folder, the data folder. */
const OWNER_FILE = 'belongs-to';

/** Where clusters lie that `nobody` could not reach inside the data folder. */
const DEFAULT_FALLBACK_ROOT = '/var/lib/model-gateway';

/** The embedded database cannot be used; the message says why and what to do, in one or two lines. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export interface EmbeddedPostgresOptions {
  /** The gateway's data folder; made if there is none. */
  dataDirectory: string;
  /** Folder under which clusters lie that `nobody` could not reach otherwise. */
  fallbackRoot?: string;
  /** Whether the role of a new cluster may create databases, as tests do; the service does not. */
  createsDatabases?: boolean;
  /** Gets a line whenever something happens that an operator may want to know. */
  log?: (line: string) => void;
}

/** The system account a PostgreSQL runs as when Node is root, since PostgreSQL refuses root. */
export interface PostgresAccount {
  uid: number;
  gid: number;
}

/** One PostgreSQL cluster: where its parts lie, and whom it runs as. Its data folder has no symbolic links. */
export interface Cluster extends Required<EmbeddedPostgresOptions> {
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

/** The account `nobody`; the numbers are the usual ones where the system does not tell. */
export function nobodyAccount(): PostgresAccount {
  const accounts = readIfPossible('/etc/passwd') ?? '';
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
  return statSync(path, { throwIfNoEntry: false });
}

/** Undefined where PostgreSQL's account cannot get there, and there is no cluster yet. */
function openInside(dataDirectory: string, inside: string): string | undefined {
  const clusterFolder = join(inside, 'cluster');
  const account = chooseAccount(clusterFolder);
  const blocked = account && findBlocked(lookUp(inside) ? inside : dataDirectory, account);
  if (blocked === undefined) return makeFolder(inside);
  if (lookUp(clusterFolder) === undefined) return undefined;
  throw new EmbeddedPostgresError(
    `The database in ${clusterFolder} cannot be reached by the account it runs as: ` +
      `allow passing through ${blocked} (chmod o+x), or move the data folder elsewhere.`,
  );
}

/**
 * The folder that a data folder names as the place of its cluster.
 *
 * @throws EmbeddedPostgresError where that is gone, or is the place of another data folder's
 */
function readPointer(dataDirectory: string): string | undefined {
  const pointer = join(dataDirectory, POINTER_FILE);
  const folder = readIfThere(pointer);
  if (folder === undefined) return undefined;
  if (lookUp(folder) === undefined) {
    throw new EmbeddedPostgresError(
      `The database folder ${folder} is gone. Put it back, or delete the file ${pointer} to start with an ` +
        `empty database. ${dataDirectory} only names that folder: a copy of it has no data. ` +
        `Make copies with "npm run gateway -- backup" (docs/backup.md).`,
    );
  }
  const owner = readIfThere(join(folder, OWNER_FILE)) ?? dataDirectory;
  if (owner !== dataDirectory && readIfThere(join(owner, POINTER_FILE)) === folder) {
    throw new EmbeddedPostgresError(
      `${dataDirectory} is a copy of ${owner} and has no data of its own: it only names the database of that one, ` +
        `in ${folder}. Delete the file ${pointer} to start with an empty database, and fill it with ` +
        `"npm run gateway -- backup" there and "restore" here (docs/backup.md).`,
    );
  }
  // The data folder may have been moved.
  writeNote(join(folder, OWNER_FILE), `${dataDirectory}\n`);
  return folder;
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
    makeFolder(folder);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The database can lie neither in ${dataDirectory}, which PostgreSQL may not enter as nobody, ` +
        `nor in ${fallbackRoot}: ${messageOf(error)}. ` +
        'Set GATEWAY_DATA_DIR to a folder that everybody may pass through, or set DATABASE_URL.',
    );
  }
  writeFileSync(join(folder, OWNER_FILE), `${dataDirectory}\n`);
  if (createWholeFile(join(dataDirectory, POINTER_FILE), `${folder}\n`)) return folder;
  // Another process starting at the same moment was faster: its choice holds for both.
  rmSync(folder, { recursive: true });
  return readPointer(dataDirectory) ?? folder;
}

/**
 * Makes a folder with exactly this mode, whatever the umask; one that exists is left as it is. Root
 * lets the account of PostgreSQL pass through; the files inside guard themselves.
 */
function makeFolder(path: string, mode = isRoot() ? 0o711 : 0o700): string {
  if (mkdirSync(path, { recursive: true }) !== undefined) chmodSync(path, mode);
  return path;
}

/** Written where it can be: a folder that cannot be written to says so where it matters. */
function writeNote(path: string, text: string): void {
  try {
    if (readIfThere(path) !== text.trim()) writeFileSync(path, text);
  } catch {
    // The start goes on.
  }
}

/**
 * Says in a data folder that its database is at `place` from now on; the embedded one is not started
 * any more. @returns what takes that back
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
    `${firstLine} Set DATABASE_URL to it, as ${file} explains, which also says how to go back.`,
  );
}

function movedText(place: string, now: Date): string {
  return `The database of this service was moved to ${place} on ${now.toISOString()}.
Start the service with DATABASE_URL set to it, and with the same GATEWAY_SECRET.

What lies here in "postgres" is as it was at that moment and is not used any more: every charge since is in
the other place alone. Keep it until there is a first backup from there, then delete it.

Should the data not be there, because the move was broken off, delete this file: the service then starts
with the database that lies here. Do not do so after the service has worked in the other place.
`;
}

function elsewhereText(folder: string): string {
  return `The database of this service does not lie in this folder.

It lies in ${folder}, since the account that PostgreSQL runs as cannot enter this folder.
A COPY OF THIS FOLDER IS NO COPY OF THE DATA: no tenants, keys, credits or logs are in it.
A container that keeps only this folder loses all of them with its next image.

To make a copy:        npm run gateway -- backup FILE     (docs/backup.md)
To have it in here:    make a backup, set GATEWAY_DATA_DIR to a new folder that everybody may pass
                       through (chmod o+x on each part of the way), and restore there.
`;
}
