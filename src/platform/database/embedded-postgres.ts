import { dirname } from 'node:path';
import {
  EmbeddedPostgresError,
  locateCluster,
  type Cluster,
  type EmbeddedPostgresOptions,
} from './cluster-location.js';
import { lockCluster, type ClusterLock, type ClusterOwnerKind } from './cluster-lock.js';
import { prepareCluster } from './cluster-preparation.js';
import { preparePostgresBinaries, type PostgresBinaries } from './postgres-binaries.js';
import { composeUrl, PostgresServer, stopLeftoverPostgres } from './postgres-server.js';

export interface EmbeddedPostgres {
  /** `postgres://…` of the database `gateway` with its owner `gateway`, who is no superuser. */
  url: string;
  /** Ends the database, if it was started here. May be called more than once. */
  stop(): Promise<void>;
}

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

function open(options: EmbeddedPostgresOptions, kind: ClusterOwnerKind): Promise<EmbeddedPostgres> {
  return withCluster(options, kind, async (cluster, { port, unlock }) => {
    const { dataDirectory, clusterFolder, isInside, log } = cluster;
    if (port !== undefined) return { url: composeUrl(cluster, port), stop: async () => unlock() };
    if (kind === 'service' && !isInside) {
      log(
        `The database does not lie in the data folder ${dataDirectory} but in ${dirname(clusterFolder)}: ` +
          'a copy of the data folder is no copy of the data (docs/backup.md)',
      );
    }
    const server = await runCluster(cluster, await preparePostgresBinaries(cluster));
    const { url } = server;
    return { url, stop: () => server.stop().finally(unlock) };
  });
}

/**
 * Finds and locks the cluster of a data folder for `work`, which unlocks it unless it fails. What the
 * system says becomes a line that an operator can act on.
 */
export async function withCluster<Result>(
  options: EmbeddedPostgresOptions,
  kind: ClusterOwnerKind,
  work: (cluster: Cluster, lock: ClusterLock) => Promise<Result>,
): Promise<Result> {
  let lock: ClusterLock | undefined;
  try {
    const cluster = locateCluster(options);
    lock = await lockCluster(cluster, kind);
    return await work(cluster, lock);
  } catch (error) {
    lock?.unlock();
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new EmbeddedPostgresError(
      `The embedded database in ${options.dataDirectory} cannot be used: ${error.message}. ` +
        'Set GATEWAY_DATA_DIR to a folder that can be written, or set DATABASE_URL.',
    );
  }
}

/** Makes a cluster ready and runs its server; the caller has locked it. */
export async function runCluster(
  cluster: Cluster,
  binaries: PostgresBinaries,
): Promise<PostgresServer> {
  await stopLeftoverPostgres(cluster);
  await prepareCluster(cluster, binaries);
  const server = new PostgresServer(cluster, binaries);
  await server.start();
  return server;
}
