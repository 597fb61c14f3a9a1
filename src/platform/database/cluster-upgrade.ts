import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  EmbeddedPostgresError,
  type Cluster,
  type EmbeddedPostgresOptions,
} from './cluster-location.js';
import { finishUpgrade, upgradedFolder, versionOf } from './cluster-preparation.js';
import { runCluster, withCluster } from './embedded-postgres.js';
import {
  makeLinks,
  preparePostgresBinaries,
  programFile,
  type PostgresBinaries,
} from './postgres-binaries.js';
import { stopLeftoverPostgres } from './postgres-server.js';

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
    if (from === undefined) {
      throw new EmbeddedPostgresError(`There is no database in ${clusterFolder} yet.`);
    }
    if (from === to) {
      throw new EmbeddedPostgresError(
        `The database in ${clusterFolder} is of PostgreSQL ${from}, as installed: there is nothing to do.`,
      );
    }
    const old = findOldBinaries(from, binaries);
    const upgraded: Cluster = { ...cluster, clusterFolder: upgradedFolder(clusterFolder) };
    const removeUpgraded = (): void =>
      rmSync(upgraded.clusterFolder, { recursive: true, force: true });
    await stopLeftoverPostgres(upgraded);
    removeUpgraded();
    try {
      await whileRunning(cluster, old, (fromUrl) =>
        whileRunning(upgraded, installed, (toUrl) => move(fromUrl, toUrl)),
      );
    } catch (error) {
      removeUpgraded();
      throw error;
    }
    const kept = `${clusterFolder}.postgresql-${from}`;
    rmSync(kept, { recursive: true, force: true });
    renameSync(clusterFolder, kept);
    finishUpgrade(clusterFolder);
    unlock();
    return { from, to, kept };
  });
}

async function whileRunning(
  cluster: Cluster,
  binaries: PostgresBinaries,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = await runCluster(cluster, binaries);
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
