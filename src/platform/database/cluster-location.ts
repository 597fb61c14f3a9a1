import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import {
  findBlockingFolder,
  isRoot,
  nobodyAccount,
  type PostgresAccount,
} from './postgres-account.js';

/** Where clusters lie that `nobody` could not reach inside the data folder. */
export const DEFAULT_FALLBACK_ROOT = '/var/lib/model-gateway';

export interface ClusterLocation {
  /** The gateway's data folder, without symbolic links. */
  dataDirectory: string;
  /** PostgreSQL's own folder. */
  clusterFolder: string;
  /** Names the Node process that owns the cluster. */
  lockFile: string;
  /** What PostgreSQL prints. */
  logFile: string;
  /** Where the binaries may be copied when they cannot be used where they are. */
  binariesFolder: string;
  /** The account to run PostgreSQL as; undefined: the one Node runs as. */
  account?: PostgresAccount;
}

/**
 * Finds, or decides on the first start, where the cluster of a data folder lies: in its folder
 * `postgres`, or under `fallbackRoot` when Node is root and the account that PostgreSQL needs
 * cannot get into the data folder. Then the file `postgres-location` in the data folder names it.
 */
export function locateCluster(dataDirectory: string, fallbackRoot: string): ClusterLocation {
  const folder = openDataDirectory(dataDirectory);
  const inside = join(folder, 'postgres');
  const root = isRoot();
  const chosen = readPointer(folder);
  if (!root || chosen !== undefined) {
    const parent = chosen ?? makeFolder(inside, 0o700);
    return describeLocation(folder, parent, root ? fallbackRoot : folder);
  }

  const location = describeLocation(folder, inside, fallbackRoot);
  const nearest = statOrUndefined(inside) === undefined ? folder : inside;
  const blocked = findBlockingFolder(nearest, location.account ?? nobodyAccount());
  if (blocked === undefined) {
    makeFolder(inside, 0o711);
    return location;
  }
  if (statOrUndefined(location.clusterFolder) !== undefined) {
    throw new EmbeddedPostgresError(
      `The database in ${location.clusterFolder} cannot be reached by the account it runs as: ` +
        `allow passing through ${blocked} (chmod o+x), or move the data folder elsewhere.`,
    );
  }
  return describeLocation(folder, chooseFallback(folder, fallbackRoot), fallbackRoot);
}

function describeLocation(
  dataDirectory: string,
  parent: string,
  binariesRoot: string,
): ClusterLocation {
  const clusterFolder = join(parent, 'cluster');
  return {
    dataDirectory,
    clusterFolder,
    lockFile: join(parent, 'owner.lock'),
    logFile: join(parent, 'postgres.log'),
    binariesFolder: join(binariesRoot, 'postgres-binaries'),
    account: chooseAccount(clusterFolder),
  };
}

/**
 * Root runs an existing cluster as the user it belongs to, so that one `sudo` does not take it away
 * from them. Throws when Node is a normal user and the cluster is somebody else's.
 */
function chooseAccount(clusterFolder: string): PostgresAccount | undefined {
  const owner = statOrUndefined(clusterFolder);
  if (isRoot()) {
    return owner === undefined || owner.uid === 0 ? nobodyAccount() : owner;
  }
  if (owner !== undefined && process.getuid !== undefined && owner.uid !== process.getuid()) {
    throw new EmbeddedPostgresError(
      `The database in ${clusterFolder} belongs to the user with id ${owner.uid}: ` +
        'start the gateway as root or as that user, or set GATEWAY_DATA_DIR to another folder.',
    );
  }
  return undefined;
}

function statOrUndefined(path: string): PostgresAccount | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The database in ${path} cannot be opened: ${(error as Error).message}.`,
    );
  }
}

function openDataDirectory(path: string): string {
  try {
    if (mkdirSync(path, { recursive: true }) !== undefined) {
      // Root lets the account of PostgreSQL pass through; the files inside guard themselves.
      chmodSync(path, isRoot() ? 0o711 : 0o700);
    }
    return realpathSync(path);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The data folder ${path} cannot be used: ${(error as Error).message}. ` +
        'Set GATEWAY_DATA_DIR to a folder that can be written, or set DATABASE_URL.',
    );
  }
}

function pointerFile(dataDirectory: string): string {
  return join(dataDirectory, 'postgres-location');
}

function readPointer(dataDirectory: string): string | undefined {
  const pointer = pointerFile(dataDirectory);
  if (statSync(pointer, { throwIfNoEntry: false }) === undefined) {
    return undefined;
  }
  const folder = readFileSync(pointer, 'utf8').trim();
  if (statOrUndefined(folder) === undefined) {
    throw new EmbeddedPostgresError(
      `The database folder ${folder} is gone. Put it back, or delete the file ${pointer} ` +
        'to start with an empty database.',
    );
  }
  return folder;
}

/**
 * Makes a folder under `fallbackRoot` and names it in the pointer file. Its name has a random part:
 * who deletes the data folder gets an empty database, not the old one without its secrets.
 */
function chooseFallback(dataDirectory: string, fallbackRoot: string): string {
  const name = createHash('sha256').update(dataDirectory).update(randomBytes(16)).digest('hex');
  const folder = join(fallbackRoot, name.slice(0, 16));
  const candidate = `${pointerFile(dataDirectory)}.${name.slice(0, 16)}`;
  try {
    makeFolder(fallbackRoot, 0o755);
    const blocked = findBlockingFolder(realpathSync(fallbackRoot), nobodyAccount());
    if (blocked !== undefined) {
      throw new Error(`the account nobody may not pass through ${blocked}`);
    }
    makeFolder(folder, 0o711);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The database can lie neither in ${dataDirectory}, which PostgreSQL may not enter as nobody, ` +
        `nor in ${fallbackRoot}: ${(error as Error).message}. ` +
        'Set GATEWAY_DATA_DIR to a folder that everybody may pass through, or set DATABASE_URL.',
    );
  }
  writeFileSync(join(folder, 'belongs-to'), `${dataDirectory}\n`);
  writeFileSync(candidate, `${folder}\n`);
  try {
    linkSync(candidate, pointerFile(dataDirectory));
    return folder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
    // Another process starting at the same moment was faster: its choice holds for both.
    rmSync(folder, { recursive: true });
    return readPointer(dataDirectory) ?? folder;
  } finally {
    rmSync(candidate, { force: true });
  }
}

/** Makes a folder with exactly this mode, whatever the umask; one that exists is left as it is. */
function makeFolder(path: string, mode: number): string {
  if (mkdirSync(path, { recursive: true }) !== undefined) {
    chmodSync(path, mode);
  }
  return path;
}
