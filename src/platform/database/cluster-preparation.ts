import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError, type PostgresAccount } from './cluster-location.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import {
  EMBEDDED_SUPERUSER,
  EMBEDDED_USER,
  firstStatements,
  markRoleAsOrdinary,
  runSingleUser,
  takeSuperuserAway,
} from './cluster-role.js';
import { runPostgresProgram, type PostgresContext } from './postgres-program.js';
import { createWholeFile, removeAbandoned } from './whole-file.js';

/**
 * Makes the cluster, or makes sure that the existing one can be started: its version, its owner, its
 * mode, its role, and the password when its file was lost. Nobody else may be using the cluster.
 *
 * @param createsDatabases whether the role of a new cluster may create databases
 */
export async function prepareCluster(
  context: PostgresContext,
  binaries: PostgresBinaries,
  passwordFile: string,
  createsDatabases = false,
): Promise<void> {
  const { clusterFolder, account } = context;
  // Letters, digits, '-' and '_' only: it stands in a URL and in a statement as it is.
  const candidate = `${randomBytes(24).toString('base64url')}\n`;
  const isNew = !existsSync(passwordFile) && createWholeFile(passwordFile, candidate, 0o600);
  const password = readPassword(passwordFile);
  // What an interrupted first start left. An `initdb` that still writes there fails by itself.
  removeAbandoned(`${clusterFolder}.unfinished-`, -Infinity);
  const versionFile = join(clusterFolder, 'PG_VERSION');
  finishUpgrade(clusterFolder);
  if (!existsSync(versionFile)) {
    await createCluster(context, binaries, password, createsDatabases);
    return;
  }
  const version = readFileSync(versionFile, 'utf8').trim();
  if (version !== binaries.majorVersion) {
    throw new EmbeddedPostgresError(
      `The database in ${clusterFolder} was made by PostgreSQL ${version}, the installed one is ` +
        `${binaries.majorVersion}: take its data over with "npm run gateway -- move embedded" ` +
        '(docs/backup.md), or install the binaries of before.',
    );
  }
  // A cluster that root restored from a backup belongs to root.
  if (account !== undefined && statSync(clusterFolder).uid !== account.uid) {
    const entries = readdirSync(clusterFolder, { withFileTypes: true, recursive: true });
    const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
    giveAway([clusterFolder, ...paths], account);
  }
  chmodSync(clusterFolder, 0o700);
  await takeSuperuserAway(context, binaries, password);
  if (isNew) {
    const statements = `ALTER ROLE ${EMBEDDED_USER} PASSWORD '${password}';\n`;
    const folder = clusterFolder;
    await runSingleUser(context, binaries, { folder, database: 'postgres', statements });
  }
}

export function readPassword(passwordFile: string): string {
  return readFileSync(passwordFile, 'utf8').trim();
}

/** Everything happens in a folder with another name, so that an interruption leaves nothing half. */
async function createCluster(
  context: PostgresContext,
  binaries: PostgresBinaries,
  password: string,
  createsDatabases: boolean,
): Promise<void> {
  const { clusterFolder, account } = context;
  const unfinished = `${clusterFolder}.unfinished-${randomBytes(4).toString('hex')}`;
  const passwordFile = `${unfinished}-password`;
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(passwordFile, password, { mode: 0o600, flag: 'wx' });
    if (account !== undefined) giveAway([unfinished, passwordFile], account);
    await runPostgresProgram(context, binaries.initdb, [
      ...['-D', unfinished, '-U', EMBEDDED_SUPERUSER, '-E', 'UTF8', '--locale=C'],
      ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync', '--no-instructions'],
    ]);
    const statements = firstStatements(password, createsDatabases);
    const folder = unfinished;
    await runSingleUser(context, binaries, { folder, database: 'postgres', statements });
    markRoleAsOrdinary(context, unfinished);
    renameSync(unfinished, clusterFolder);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Where the cluster of a new major version is made, beside that of the old one. */
export function upgradedFolder(clusterFolder: string): string {
  return `${clusterFolder}.upgraded`;
}

/**
 * Puts the upgraded cluster, which is whole and stopped, in the place of the old one.
 * @returns where the old one lies now
 */
export function replaceCluster(clusterFolder: string, oldVersion: string): string {
  const kept = `${clusterFolder}.postgresql-${oldVersion}`;
  rmSync(kept, { recursive: true, force: true });
  renameSync(clusterFolder, kept);
  renameSync(upgradedFolder(clusterFolder), clusterFolder);
  return kept;
}

/** What was killed between the two steps of `replaceCluster` is done to its end. */
function finishUpgrade(clusterFolder: string): void {
  const upgraded = upgradedFolder(clusterFolder);
  const wasReplaced = !existsSync(clusterFolder) && existsSync(upgraded);
  if (wasReplaced) renameSync(upgraded, clusterFolder);
}

function giveAway(paths: string[], { uid, gid }: PostgresAccount): void {
  for (const path of paths) lchownSync(path, uid, gid);
}
