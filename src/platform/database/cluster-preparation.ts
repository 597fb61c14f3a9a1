import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError, type Cluster } from './cluster-location.js';
import type { RunnableCluster } from './postgres-binaries.js';
import { runPostgresProgram } from './postgres-program.js';
import { createWholeFile, readIfThere, removeAbandoned } from './whole-file.js';

/** The role that the gateway connects as, and the database that it owns. */
export const ROLE = 'gateway';
export const DATABASE = 'gateway';
/** Made with the cluster. Nobody can connect as it: PostgreSQL alone is it, without a server. */
const SUPERUSER = 'gateway_admin';

/** Whoever has a password. */
const WHO_MAY_CONNECT = 'local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n';

/** In a cluster's folder: its role is no superuser. */
const ORDINARY_ROLE_FILE = 'gateway-role-is-ordinary';

/**
 * Makes the cluster, or makes sure that the existing one can be started: its version, its owner, its
 * mode, its role, and the password when its file was lost. Nobody else may be using the cluster.
 */
export async function prepareCluster(cluster: RunnableCluster): Promise<void> {
  const { clusterFolder, passwordFile, account, binaries } = cluster;
  // Letters, digits, '-' and '_' only: it stands in a URL and in a statement as it is.
  const candidate = `${randomBytes(24).toString('base64url')}\n`;
  const isNew = !existsSync(passwordFile) && createWholeFile(passwordFile, candidate, 0o600);
  // What an interrupted first start left. An `initdb` that still writes there fails by itself.
  removeAbandoned(`${clusterFolder}.unfinished-`, -Infinity);
  // An upgrade that was killed in between its last two steps.
  finishUpgrade(clusterFolder);
  const version = versionOf(cluster);
  if (version === undefined) return createCluster(cluster);
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
    giveAway([clusterFolder, ...paths], cluster);
  }
  chmodSync(clusterFolder, 0o700);
  if (isNew || !existsSync(join(clusterFolder, ORDINARY_ROLE_FILE))) {
    // In clusters of before the role is the superuser, and owns all that is in the database.
    await setRole(cluster, DATABASE, [`ALTER DATABASE ${DATABASE} OWNER TO ${ROLE}`, GIVE_OBJECTS]);
  }
}

/** The major version of PostgreSQL that made a cluster; undefined where there is none yet. */
export function versionOf({ clusterFolder }: Cluster): string | undefined {
  return readIfThere(join(clusterFolder, 'PG_VERSION'));
}

/** Everything happens in a folder with another name, so that an interruption leaves nothing half. */
async function createCluster(cluster: RunnableCluster): Promise<void> {
  const folder = `${cluster.clusterFolder}.unfinished-${randomBytes(4).toString('hex')}`;
  const unfinished = { ...cluster, clusterFolder: folder };
  try {
    mkdirSync(folder, { mode: 0o700 });
    giveAway([folder], cluster);
    await runPostgresProgram(cluster, 'initdb', [
      ...['-D', folder, '-U', SUPERUSER, '-E', 'UTF8', '--locale=C'],
      ...['--auth=reject', '--no-sync', '--no-instructions'],
    ]);
    putFile(unfinished, 'pg_hba.conf', WHO_MAY_CONNECT);
    await setRole(unfinished, 'postgres', [`CREATE DATABASE ${DATABASE} OWNER ${ROLE}`]);
    renameSync(folder, cluster.clusterFolder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the cluster of a new major version is made, beside that of the old one. */
export function upgradedFolder(clusterFolder: string): string {
  return `${clusterFolder}.upgraded`;
}

/** Puts the upgraded cluster, which is whole and stopped, in the place of the old one if that was taken away. */
export function finishUpgrade(clusterFolder: string): void {
  const upgraded = upgradedFolder(clusterFolder);
  const isMissing = !existsSync(clusterFolder) && existsSync(upgraded);
  if (isMissing) renameSync(upgraded, clusterFolder);
}

function giveAway(paths: string[], { account }: Cluster): void {
  if (account === undefined) return;
  for (const path of paths) lchownSync(path, account.uid, account.gid);
}

/** The folder is another user's where Node is root: a link that was planted there is not followed. */
function putFile(cluster: Cluster, name: string, text: string): void {
  const path = join(cluster.clusterFolder, name);
  rmSync(path, { force: true });
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  giveAway([path], cluster);
}

export function readPassword({ passwordFile }: Cluster): string {
  return readIfThere(passwordFile) ?? '';
}

/**
 * Makes the role an ordinary one with its password, and runs what follows from that. May be broken off
 * at any point and done again. The role of a session cannot be renamed with ALTER ROLE, and this
 * session's is the superuser, whose id is 10.
 */
async function setRole(
  cluster: RunnableCluster,
  database: string,
  furtherStatements: string[],
): Promise<void> {
  const role = `
    DO $$ BEGIN
      UPDATE pg_authid SET rolname = '${SUPERUSER}', rolcanlogin = false, rolpassword = NULL
      WHERE oid = 10;
      IF NOT EXISTS (SELECT FROM pg_authid WHERE rolname = '${ROLE}') THEN
        CREATE ROLE ${ROLE} LOGIN ${cluster.createsDatabases ? 'CREATEDB' : ''};
      END IF;
      ALTER ROLE ${ROLE} PASSWORD '${readPassword(cluster)}';
    END $$`;
  await runSingleUser(cluster, database, [role, ...furtherStatements]);
  putFile(cluster, ORDINARY_ROLE_FILE, '');
}

/**
 * Runs statements as the superuser and without a server; nobody else may use the cluster. The first
 * that fails ends it. None may hold an empty line, by which PostgreSQL tells where the next begins.
 */
export async function runSingleUser(
  cluster: RunnableCluster,
  database: string,
  statements: readonly string[],
): Promise<void> {
  const { clusterFolder } = cluster;
  const parameters = ['--single', '-j', '-D', clusterFolder, '-c', 'exit_on_error=on', database];
  await runPostgresProgram(cluster, 'postgres', parameters, `${statements.join(';\n\n')}\n`);
}

/**
 * What is the superuser's, which REASSIGN OWNED does not take from it. Indexes, and sequences and types
 * that belong to tables, go with those.
 */
const GIVE_OBJECTS = `
  DO $$ DECLARE each record; BEGIN
    FOR each IN
      SELECT type, identity
      FROM (
        SELECT 'pg_namespace'::regclass AS class, oid, nspowner AS owner FROM pg_namespace
        UNION ALL SELECT 'pg_class', oid, relowner FROM pg_class
        WHERE relkind IN ('r', 'p', 'v', 'm', 'S')
        UNION ALL SELECT 'pg_proc', oid, proowner FROM pg_proc
        UNION ALL SELECT 'pg_type', oid, typowner FROM pg_type
      ) AS own, pg_identify_object(class, oid, 0)
      WHERE owner = 10 AND oid >= 16384 AND coalesce(schema, identity) !~ '^pg_'
        AND NOT EXISTS (
          SELECT FROM pg_depend
          WHERE classid = class AND objid = oid AND objsubid = 0
            AND (deptype = 'i' OR deptype = 'a' AND refobjsubid > 0)
        )
    LOOP
      EXECUTE format('ALTER %s %s OWNER TO ${ROLE}', each.type, each.identity);
    END LOOP;
  END $$`;
