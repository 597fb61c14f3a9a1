import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedLogFile } from './bounded-log-file.js';
import { DEFAULT_FALLBACK_ROOT, locateCluster, type ClusterLocation } from './cluster-location.js';
import {
  ClusterOwnedError,
  ClusterOwnerLock,
  findClusterOwner,
  isNeighbour,
  type ClusterOwnerKind,
} from './cluster-owner-lock.js';
import {
  EMBEDDED_DATABASE,
  EMBEDDED_USER,
  prepareCluster,
  readPassword,
} from './cluster-preparation.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { stopLeftoverPostgres } from './leftover-postgres.js';
import { preparePostgresBinaries } from './postgres-binaries.js';
import type { PostgresContext } from './postgres-command.js';
import { PostgresSupervisor } from './postgres-supervisor.js';
import { isPostmasterOf, readPostmasterPid } from './postmaster-pid.js';

export interface EmbeddedPostgres {
  /** `postgres://…` of the database `gateway` with its superuser `gateway`. */
  url: string;
  /** Ends the database, if it was started here. May be called more than once. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The gateway's data folder; made if there is none. */
  dataDirectory: string;
  /** Folder under which clusters lie that `nobody` could not reach otherwise. */
  fallbackRoot?: string;
  /** Gets a line whenever something happens that an operator may want to know. */
  log?: (line: string) => void;
}

/** An operator's command uses the database for a moment; who comes meanwhile waits so long. */
const COMMAND_PATIENCE_MS = 15_000;
const SERVICE_START_PATIENCE_MS = 30_000;
const POLL_MS = 25;

/**
 * Starts the PostgreSQL of a data folder, on the first start with an empty database, and keeps it
 * running until `stop`. Throws `EmbeddedPostgresError` when it cannot be started, or when another
 * live service uses this data folder.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  return explainErrors(options, async () => {
    const location = locate(options);
    const lock = await acquireWhenFree(location, 'service', options);
    return start(location, lock, options);
  });
}

/**
 * For an operator's command: the database of the service that runs on this data folder, whose `stop`
 * then does nothing, else a PostgreSQL started for the duration.
 */
export async function attachEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  return explainErrors(options, async () => {
    const location = locate(options);
    for (;;) {
      const owner = await findClusterOwner(location.lockFile);
      if (owner?.kind === 'service') {
        if (!isNeighbour(owner)) {
          throw new ClusterOwnedError(owner);
        }
        const port = await waitForRunningPort(location);
        if (port !== undefined) {
          return { url: composeUrl(location, port), stop: () => Promise.resolve() };
        }
        continue;
      }
      try {
        const lock = await acquireWhenFree(location, 'command', options);
        return await start(location, lock, options);
      } catch (error) {
        if (!(error instanceof ClusterOwnedError) || error.owner.kind === 'command') {
          throw error;
        }
      }
    }
  });
}

async function start(
  location: ClusterLocation,
  lock: ClusterOwnerLock,
  { log = () => undefined }: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { clusterFolder, account } = location;
  const logFile = new BoundedLogFile(location.logFile, account);
  const release = (): void => {
    logFile.close();
    lock.release();
  };
  try {
    await stopLeftoverPostgres(clusterFolder, log);
    const binaries = await preparePostgresBinaries(location.binariesFolder, account);
    const context: PostgresContext = { clusterFolder, account, logFile };
    await prepareCluster(context, binaries, passwordFile(location));
    const supervisor = new PostgresSupervisor(context, binaries.postgres, log);
    await supervisor.start();
    let stopped: Promise<void> | undefined;
    return {
      url: composeUrl(location, supervisor.port),
      stop: () => (stopped ??= supervisor.stop().finally(release)),
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Waits while an operator's command has the cluster; throws `ClusterOwnedError` for a service. */
async function acquireWhenFree(
  location: ClusterLocation,
  kind: ClusterOwnerKind,
  { log = () => undefined }: EmbeddedPostgresOptions,
): Promise<ClusterOwnerLock> {
  const deadlineMs = Date.now() + COMMAND_PATIENCE_MS;
  for (let isAnnounced = false; ;) {
    try {
      return await ClusterOwnerLock.acquire(location.lockFile, kind);
    } catch (error) {
      const isCommand = error instanceof ClusterOwnedError && error.owner.kind === 'command';
      if (!isCommand || Date.now() > deadlineMs) {
        throw error;
      }
      if (!isAnnounced) {
        log(`Waiting for a command that uses the database (process ${error.owner.pid})`);
        isAnnounced = true;
      }
      await sleep(POLL_MS);
    }
  }
}

/** The port of the running service's PostgreSQL; undefined when the service ends meanwhile. */
async function waitForRunningPort(location: ClusterLocation): Promise<number | undefined> {
  const deadlineMs = Date.now() + SERVICE_START_PATIENCE_MS;
  while ((await findClusterOwner(location.lockFile))?.kind === 'service') {
    const status = readPostmasterPid(location.clusterFolder);
    if (status?.ready === true && isPostmasterOf(status.pid, location.clusterFolder)) {
      return status.port;
    }
    if (Date.now() > deadlineMs) {
      throw new EmbeddedPostgresError(
        `The gateway is running, but its database in ${location.clusterFolder} is not: ` +
          `see ${location.logFile}`,
      );
    }
    await sleep(POLL_MS);
  }
  return undefined;
}

function locate({ dataDirectory, fallbackRoot }: EmbeddedPostgresOptions): ClusterLocation {
  return locateCluster(dataDirectory, fallbackRoot ?? DEFAULT_FALLBACK_ROOT);
}

function passwordFile({ dataDirectory }: ClusterLocation): string {
  return join(dataDirectory, 'postgres-password');
}

function composeUrl(location: ClusterLocation, port: number): string {
  const password = readPassword(passwordFile(location));
  return `postgres://${EMBEDDED_USER}:${password}@127.0.0.1:${port}/${EMBEDDED_DATABASE}`;
}

/** Turns what the system or the lock says into a line that an operator can act on. */
async function explainErrors<T>(
  { dataDirectory }: EmbeddedPostgresOptions,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ClusterOwnedError) {
      const place = isNeighbour(error.owner) ? '' : ' in another container or on another machine';
      throw new EmbeddedPostgresError(
        `The database in ${dataDirectory} is in use by another gateway (process ` +
          `${error.owner.pid}${place}): stop that one first, or set GATEWAY_DATA_DIR to another folder.`,
      );
    }
    if (error instanceof Error && 'syscall' in error) {
      throw new EmbeddedPostgresError(
        `The embedded database in ${dataDirectory} cannot be used: ${error.message}`,
      );
    }
    throw error;
  }
}
