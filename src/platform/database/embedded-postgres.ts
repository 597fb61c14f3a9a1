import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DEFAULT_FALLBACK_ROOT,
  EmbeddedPostgresError,
  locateCluster,
  type ClusterLocation,
} from './cluster-location.js';
import {
  ClusterOwnedError,
  isNeighbour,
  lockCluster,
  type ClusterOwnerKind,
} from './cluster-lock.js';
import { prepareCluster, readPassword } from './cluster-preparation.js';
import { EMBEDDED_DATABASE, EMBEDDED_USER } from './cluster-role.js';
import { preparePostgresBinaries } from './postgres-binaries.js';
import { BoundedLogFile, type PostgresContext } from './postgres-program.js';
import { PostgresServer, stopLeftoverPostgres } from './postgres-server.js';
import { findRunningPort, findSocketFolder } from './postmaster-files.js';

export interface EmbeddedPostgres {
  /** `postgres://…` of the database `gateway` with its owner `gateway`, who is no superuser. */
  url: string;
  /** Ends the database, if it was started here. May be called more than once. */
  stop(): Promise<void>;
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

/** Who comes waits so long for a command to end, and a command so long for a service to start. */
const PATIENCE_MS = { command: 15_000, service: 30_000 } as const;
const POLL_MS = 25;

/**
 * Starts the PostgreSQL of a data folder, on the first start with an empty database, and keeps it
 * running until `stop`. Throws `EmbeddedPostgresError` when it cannot be started, or when another
 * live service uses this data folder.
 */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return open(options, 'service');
}

/**
 * For an operator's command: the database of the service that runs on this data folder, whose `stop`
 * then does nothing, else a PostgreSQL started for the duration.
 */
export function attachEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  return open(options, 'command');
}

/** Whatever is done with a cluster that nobody else may use meanwhile. */
export async function withOwnCluster<Result>(
  {
    dataDirectory,
    fallbackRoot = DEFAULT_FALLBACK_ROOT,
    log = () => undefined,
  }: EmbeddedPostgresOptions,
  work: (location: ClusterLocation) => Promise<Result>,
): Promise<Result> {
  try {
    const location = locateCluster(dataDirectory, fallbackRoot);
    const unlock = await lockOrFind(location, 'service', log);
    try {
      return await work(location);
    } finally {
      if (typeof unlock === 'function') unlock();
    }
  } catch (error) {
    throw explain(error, dataDirectory);
  }
}

async function open(
  options: EmbeddedPostgresOptions,
  kind: ClusterOwnerKind,
): Promise<EmbeddedPostgres> {
  const { dataDirectory, fallbackRoot = DEFAULT_FALLBACK_ROOT, log = () => undefined } = options;
  try {
    const location = locateCluster(dataDirectory, fallbackRoot);
    if (kind === 'service' && !location.isInside) {
      log(
        `The database does not lie in the data folder ${location.dataDirectory} but in ${dirname(location.clusterFolder)}: ` +
          'a copy of the data folder is no copy of the data (docs/backup.md)',
      );
    }
    const lock = await lockOrFind(location, kind, log);
    return typeof lock === 'number'
      ? { url: composeUrl(location, lock), stop: () => Promise.resolve() }
      : await start(location, lock, options);
  } catch (error) {
    throw explain(error, dataDirectory);
  }
}

/**
 * Answers what releases the lock of the cluster; a command may get the port of the service's
 * PostgreSQL instead. Waits while a command has the cluster, and, as one, while a service starts.
 */
async function lockOrFind(
  { lockFile, clusterFolder, logFile }: ClusterLocation,
  kind: ClusterOwnerKind,
  log: (line: string) => void,
): Promise<(() => void) | number> {
  const startedAtMs = Date.now();
  for (let isAnnounced = false; ; await sleep(POLL_MS)) {
    try {
      return await lockCluster(lockFile, kind);
    } catch (error) {
      if (!(error instanceof ClusterOwnedError)) throw error;
      const { owner } = error;
      const isLate = Date.now() - startedAtMs > PATIENCE_MS[owner.kind];
      if (owner.kind === 'command') {
        if (isLate) throw error;
        if (!isAnnounced)
          log(`Waiting for a command that uses the database (process ${owner.pid})`);
        isAnnounced = true;
        continue;
      }
      if (kind === 'service' || !isNeighbour(owner)) throw error;
      const port = findRunningPort(clusterFolder);
      if (port !== undefined) return port;
      if (isLate) {
        throw new EmbeddedPostgresError(
          `The gateway is running, but its database in ${clusterFolder} is not: see ${logFile}`,
        );
      }
    }
  }
}

async function start(
  location: ClusterLocation,
  unlock: () => void,
  { log = () => undefined, createsDatabases }: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { clusterFolder, account } = location;
  const logFile = new BoundedLogFile(location.logFile, account);
  const release = (): void => {
    logFile.close();
    unlock();
  };
  try {
    await stopLeftoverPostgres(clusterFolder, log);
    const binaries = await preparePostgresBinaries(location.binariesFolder, account);
    const context: PostgresContext = { clusterFolder, account, logFile };
    await prepareCluster(context, binaries, location.passwordFile, createsDatabases);
    const server = new PostgresServer(context, binaries.postgres, log);
    await server.start();
    let stopped: Promise<void> | undefined;
    return {
      url: composeUrl(location, server.port),
      stop: () => (stopped ??= server.stop().finally(release)),
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** What is asked for as `host` goes before the address, for the driver as for PostgreSQL's own programs. */
export function composeUrl(
  { passwordFile, clusterFolder }: Pick<ClusterLocation, 'passwordFile' | 'clusterFolder'>,
  port: number,
): string {
  const password = readPassword(passwordFile);
  const folder = findSocketFolder(clusterFolder, port);
  const socket = folder === undefined ? '' : `?host=${encodeURIComponent(folder)}`;
  return `postgres://${EMBEDDED_USER}:${password}@127.0.0.1:${port}/${EMBEDDED_DATABASE}${socket}`;
}

/** Turns what the system or the lock says into a line that an operator can act on. */
function explain(error: unknown, dataDirectory: string): unknown {
  if (error instanceof ClusterOwnedError) {
    const place = isNeighbour(error.owner) ? '' : ' in another container or on another machine';
    return new EmbeddedPostgresError(
      `The database in ${dataDirectory} is in use by another gateway (process ` +
        `${error.owner.pid}${place}): stop that one first, or set GATEWAY_DATA_DIR to another folder.`,
    );
  }
  if (error instanceof Error && 'syscall' in error) {
    return new EmbeddedPostgresError(
      `The embedded database in ${dataDirectory} cannot be used: ${error.message}`,
    );
  }
  return error;
}
