import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  EmbeddedPostgresError,
  locateCluster,
  type Cluster,
  type EmbeddedPostgresOptions,
} from './cluster-location.js';
import { lockCluster, type ClusterLock, type ClusterOwnerKind } from './cluster-lock.js';
import { finishUpgrade, upgradedFolder, versionOf } from './cluster-preparation.js';
import {
  makeLinks,
  preparePostgresBinaries,
  programFile,
  type PostgresBinaries,
  type RunnableCluster,
} from './postgres-binaries.js';
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

/** What became of a cluster of an older version. */
export interface ClusterUpgrade {
  /** Major versions, such as `15` and `18`. */
  readonly from: string;
  readonly to: string;
  /** Where the old cluster lies now; nothing uses it any more. */
  readonly kept: string;
}

/**
 * Makes a cluster of the installed PostgreSQL beside the one that another major version made, has the
 * data moved, and puts it in its place. Until then the old one is as it was.
 *
 * @param options.binaries folder with the old version's `postgres`
 * @param move copies everything from one URL to the other; what it throws ends the upgrade
 */
export function upgradeCluster(
  { binaries, ...options }: EmbeddedPostgresOptions & { binaries?: string },
  move: (fromUrl: string, toUrl: string) => Promise<void>,
): Promise<ClusterUpgrade> {
  return withCluster(options, 'service', async (cluster, { unlock }) => {
    const { clusterFolder } = cluster;
    const installed = await preparePostgresBinaries(cluster);
    const to = installed.majorVersion;
    const from = versionOf(cluster);
    if (from === undefined || from === to) {
      const state =
        from === undefined ? 'is not made yet' : `is of PostgreSQL ${from}, as installed`;
      throw new EmbeddedPostgresError(
        `The database in ${clusterFolder} ${state}: there is nothing to do.`,
      );
    }
    const old = { ...cluster, binaries: findOldBinaries(from, binaries) };
    const upgraded = {
      ...cluster,
      clusterFolder: upgradedFolder(clusterFolder),
      binaries: installed,
    };
    const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });
    await stopLeftoverPostgres(upgraded);
    remove(upgraded.clusterFolder);
    try {
      await whileRunning(old, (fromUrl) => whileRunning(upgraded, (toUrl) => move(fromUrl, toUrl)));
    } catch (error) {
      remove(upgraded.clusterFolder);
      throw error;
    }
    const kept = `${clusterFolder}.postgresql-${from}`;
    remove(kept);
    renameSync(clusterFolder, kept);
    finishUpgrade(clusterFolder);
    unlock();
    return { from, to, kept };
  });
}

function open(options: EmbeddedPostgresOptions, kind: ClusterOwnerKind): Promise<EmbeddedPostgres> {
  return withCluster(options, kind, async (cluster, { port, unlock }) => {
    const { dataDirectory, clusterFolder, log } = cluster;
    const folder = dirname(clusterFolder);
    if (port !== undefined) return { url: composeUrl(cluster, port), stop: async () => unlock() };
    if (kind === 'service' && dirname(folder) !== dataDirectory) {
      log(
        `The database does not lie in the data folder ${dataDirectory} but in ${folder}: ` +
          'a copy of the data folder is no copy of the data (docs/backup.md)',
      );
    }
    const server = await PostgresServer.start({
      ...cluster,
      binaries: await preparePostgresBinaries(cluster),
    });
    return { url: server.url, stop: () => server.stop().finally(unlock) };
  });
}

/**
 * Finds and locks the cluster of a data folder for `work`, which unlocks it unless it fails. What the
 * system says becomes a line that an operator can act on.
 */
async function withCluster<Result>(
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

async function whileRunning(
  cluster: RunnableCluster,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = await PostgresServer.start(cluster);
  try {
    await work(server.url);
  } finally {
    await server.stop();
  }
}

function findOldBinaries(version: string, given: string | undefined): PostgresBinaries {
  const folder = given ?? `/usr/lib/postgresql/${version}/bin`;
  const binaries = { folder, majorVersion: version };
  const postgres = programFile(binaries, 'postgres');
  if (!existsSync(postgres)) {
    throw new EmbeddedPostgresError(
      `The programs of PostgreSQL ${version} are needed to read its database, and there is no ${postgres}: ` +
        'name the folder that has them with --binaries (docs/backup.md says where they come from).',
    );
  }
  // As the packages of embedded binaries lay them out.
  makeLinks(dirname(folder));
  return binaries;
}
