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
/** Created with the cluster. Cannot log in; only PostgreSQL's single-user mode runs as it. */
const SUPERUSER = 'gateway_admin';

/** `pg_hba.conf`: requires a password from everyone. */
const CONNECTION_RULES = 'local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n';

/** Marks a cluster whose gateway role is not a superuser. */
const ORDINARY_ROLE_FILE = 'gateway-role-is-ordinary';

/**
 * Creates the cluster, or prepares an existing one for its start: checks its version and corrects
 * its owner, mode, role, and the password if that file was lost. The cluster must not be in use.
 */
export async function prepareCluster(cluster: RunnableCluster): Promise<void> {
  const { clusterFolder, passwordFile, account, binaries } = cluster;
  // Only letters, digits, '-' and '_', because it is inserted verbatim into a URL and a statement.
  const candidate = `${randomBytes(24).toString('base64url')}\n`;
  const isNew = !existsSync(passwordFile) && createWholeFile(passwordFile, candidate, 0o600);
  // Left by an interrupted first start. An `initdb` that still writes there fails.
  removeAbandoned(`${clusterFolder}.unfinished-`, -Infinity);
  // An upgrade may have been killed between its last two steps.
  finishUpgrade(clusterFolder);
  const version = versionOf(cluster);
  if (version === undefined) return createCluster(cluster);
  if (version !== binaries.majorVersion) {
    throw new EmbeddedPostgresError(
      `The database in ${clusterFolder} was created by PostgreSQL ${version}, but version ` +
        `${binaries.majorVersion} is installed. Migrate its data with "npm run gateway -- move embedded" ` +
        '(docs/backup.md), or install the previous binaries.',
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
    // In older clusters the role is the superuser and owns everything in the database.
    await setRole(cluster, DATABASE, [`ALTER DATABASE ${DATABASE} OWNER TO ${ROLE}`, GIVE_OBJECTS]);
  }
}

/** Returns the PostgreSQL major version that created a cluster; undefined before its creation. */
export function versionOf({ clusterFolder }: Cluster): string | undefined {
  return readIfThere(join(clusterFolder, 'PG_VERSION'));
}

/** Works in a folder with another name, so that an interruption leaves nothing incomplete. */
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
    putFile(unfinished, 'pg_hba.conf', CONNECTION_RULES);
    await setRole(unfinished, 'postgres', [`CREATE DATABASE ${DATABASE} OWNER ${ROLE}`]);
    renameSync(folder, cluster.clusterFolder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the folder in which the cluster of a new major version is created, next to the old one. */
export function upgradedFolder(clusterFolder: string): string {
  return `${clusterFolder}.upgraded`;
}

/** Moves the upgraded cluster, which is complete and stopped, into place if the old one was moved away. */
export function finishUpgrade(clusterFolder: string): void {
  const upgraded = upgradedFolder(clusterFolder);
  const isMissing = !existsSync(clusterFolder) && existsSync(upgraded);
  if (isMissing) renameSync(upgraded, clusterFolder);
}

function giveAway(paths: string[], { account }: Cluster): void {
  if (account === undefined) return;
  for (const path of paths) lchownSync(path, account.uid, account.gid);
}

/** Does not follow links: when Node is root, another user owns the folder and may have planted one. */
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
 * Makes the role an ordinary one with its password, then runs the further statements. Can be
 * interrupted and repeated at any point. Updates the catalog, because ALTER ROLE cannot rename the
 * session's own role, the superuser with id 10.
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
 * Runs statements as the superuser, without a server, and stops at the first failure. The cluster
 * must not be in use. A statement must not contain an empty line, which ends it.
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
 * Changes the owner of the superuser's objects, which REASSIGN OWNED does not. Indexes, and sequences
 * and types that belong to tables, follow their tables.
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
