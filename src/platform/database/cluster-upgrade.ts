import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './cluster-location.js';
import { prepareCluster, replaceCluster, upgradedFolder } from './cluster-preparation.js';
import { composeUrl, withOwnCluster, type EmbeddedPostgresOptions } from './embedded-postgres.js';
import { makeLinks, preparePostgresBinaries, type PostgresBinaries } from './postgres-binaries.js';
import { BoundedLogFile, type PostgresContext } from './postgres-program.js';
import { PostgresServer, stopLeftoverPostgres } from './postgres-server.js';

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
export async function upgradeCluster(
  { binaries, log = () => undefined, ...options }: EmbeddedPostgresOptions & { binaries?: string },
  move: (fromUrl: string, toUrl: string) => Promise<void>,
): Promise<ClusterUpgrade> {
  return withOwnCluster({ ...options, log }, async (location) => {
    const { clusterFolder, account, passwordFile } = location;
    const installed = await preparePostgresBinaries(location.binariesFolder, account);
    const from = versionOf(clusterFolder);
    if (from === installed.majorVersion) {
      throw new EmbeddedPostgresError(
        `The database in ${clusterFolder} is of PostgreSQL ${from}, as installed: there is nothing to do.`,
      );
    }
    const old = findOldBinaries(from, binaries);
    await stopLeftoverPostgres(clusterFolder, log);
    const newFolder = upgradedFolder(clusterFolder);
    await stopLeftoverPostgres(newFolder, log);
    rmSync(newFolder, { recursive: true, force: true });

    const logFile = new BoundedLogFile(location.logFile, account);
    const start = async (folder: string, programs: PostgresBinaries): Promise<PostgresServer> => {
      const context: PostgresContext = { clusterFolder: folder, account, logFile };
      await prepareCluster(context, programs, passwordFile);
      const server = new PostgresServer(context, programs.postgres, log);
      await server.start();
      return server;
    };
    const servers: PostgresServer[] = [];
    try {
      servers.push(await start(clusterFolder, old), await start(newFolder, installed));
      const [fromUrl = '', toUrl = ''] = servers.map(({ port }) => composeUrl(location, port));
      await move(fromUrl, toUrl);
    } catch (error) {
      await stopAll(servers, logFile);
      rmSync(newFolder, { recursive: true, force: true });
      throw error;
    }
    await stopAll(servers, logFile);
    const kept = replaceCluster(clusterFolder, from);
    return { from, to: installed.majorVersion, kept };
  });
}

async function stopAll(servers: readonly PostgresServer[], logFile: BoundedLogFile): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
  logFile.close();
}

function versionOf(clusterFolder: string): string {
  const file = join(clusterFolder, 'PG_VERSION');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  throw new EmbeddedPostgresError(`There is no database in ${clusterFolder} yet.`);
}

function findOldBinaries(version: string, given: string | undefined): PostgresBinaries {
  const folder = given ?? `/usr/lib/postgresql/${version}/bin`;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const postgres = join(folder, `postgres${suffix}`);
  if (!existsSync(postgres)) {
    throw new EmbeddedPostgresError(
      `The programs of PostgreSQL ${version} are needed to read its database, and there is no ${postgres}: ` +
        'name the folder that has them with --binaries (docs/backup.md says where they come from).',
    );
  }
  // As the packages of embedded binaries lay them out.
  makeLinks(dirname(folder));
  return { initdb: join(folder, `initdb${suffix}`), postgres, majorVersion: version };
}
