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
  /** `postgres://…` of the database `gateway`, with its owner `gateway`, which is no superuser. */
  url: string;
  /** Stops the database if it was started here. Can be called repeatedly. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL of a data folder and keeps it running until `stop`. The first start creates an
 * empty database.
 *
 * @throws EmbeddedPostgresError when it cannot start, or another live service uses the data folder
 */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return open(options, 'service');
}

/**
 * Opens the database for an operator's command: that of the service running on this data folder, whose
 * `stop` then does nothing, or a PostgreSQL started for the command.
 */
export function attachEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  return open(options, 'command');
}

/** The upgrade of a cluster from an older version. */
export interface ClusterUpgrade {
  /** Major versions, such as `15` and `18`. */
  readonly from: string;
  readonly to: string;
  /** Folder with the old cluster, now unused. */
  readonly kept: string;
}

/**
 * Replaces a cluster of another major version by one of the installed PostgreSQL, created next to it. The
 * old one is unchanged until the data has been moved.
 *
 * @param options.binaries folder with the old version's `postgres`
 * @param move copies everything from one URL to the other; the upgrade fails when it throws
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
        from === undefined ? 'does not exist yet' : `already has the installed version ${from}`;
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
        `The database is not in the data folder ${dataDirectory} but in ${folder}: ` +
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
 * Finds and locks the cluster of a data folder and runs `work`, which unlocks it unless it fails. Turns
 * system errors into messages that an operator can act on.
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
        'Set GATEWAY_DATA_DIR to a writable folder, or set DATABASE_URL.',
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
      `Reading this database needs the programs of PostgreSQL ${version}, and there is no ${postgres}. ` +
        'Pass the folder that has them as --binaries; docs/backup.md says where to get them.',
    );
  }
  // The packages of embedded binaries have this layout.
  makeLinks(dirname(folder));
  return binaries;
}
