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
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { PostgresAccount } from './postgres-account.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { runPostgresProgram, type PostgresContext } from './postgres-command.js';

/** The superuser and the database that the gateway uses. */
export const EMBEDDED_USER = 'gateway';
export const EMBEDDED_DATABASE = 'gateway';

/**
 * Makes the cluster, or makes sure that the existing one can be started: its owner, its mode, and
 * the password when its file was lost. Nobody else may be using the cluster.
 */
export async function prepareCluster(
  context: PostgresContext,
  binaries: PostgresBinaries,
  passwordFile: string,
): Promise<void> {
  const { clusterFolder, account } = context;
  const hasPassword = existsSync(passwordFile);
  const password = hasPassword ? readPassword(passwordFile) : makePassword(passwordFile);
  removeUnfinished(clusterFolder);
  if (!existsSync(join(clusterFolder, 'PG_VERSION'))) {
    await createCluster(context, binaries, password);
    return;
  }
  refuseOtherVersion(clusterFolder, binaries);
  if (account !== undefined && statSync(clusterFolder).uid !== account.uid) {
    giveAway(clusterFolder, account);
  }
  chmodSync(clusterFolder, 0o700);
  if (!hasPassword) {
    const statement = `ALTER ROLE ${EMBEDDED_USER} PASSWORD '${password}';\n`;
    await runSingleUser(context, binaries, clusterFolder, statement);
  }
}

export function readPassword(passwordFile: string): string {
  return readFileSync(passwordFile, 'utf8').trim();
}

function makePassword(passwordFile: string): string {
  // Letters, digits, '-' and '_' only: it stands in a URL and in a statement as it is.
  const password = randomBytes(24).toString('base64url');
  const partial = `${passwordFile}.${randomBytes(4).toString('hex')}`;
  writeFileSync(partial, `${password}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(partial, passwordFile);
  return password;
}

/** Everything happens in a folder with another name, so that an interruption leaves nothing half. */
async function createCluster(
  context: PostgresContext,
  binaries: PostgresBinaries,
  password: string,
): Promise<void> {
  const { clusterFolder, account } = context;
  const unfinished = `${unfinishedPrefix(clusterFolder)}${randomBytes(4).toString('hex')}`;
  const passwordFile = `${unfinished}-password`;
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(passwordFile, password, { mode: 0o600, flag: 'wx' });
    if (account !== undefined) {
      lchownSync(unfinished, account.uid, account.gid);
      lchownSync(passwordFile, account.uid, account.gid);
    }
    await runPostgresProgram(context, binaries.initdb, [
      ...['-D', unfinished, '-U', EMBEDDED_USER, '-E', 'UTF8', '--locale=C'],
      ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync', '--no-instructions'],
    ]);
    await runSingleUser(context, binaries, unfinished, `CREATE DATABASE ${EMBEDDED_DATABASE};\n`);
    renameSync(unfinished, clusterFolder);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function runSingleUser(
  context: PostgresContext,
  binaries: PostgresBinaries,
  folder: string,
  statement: string,
): Promise<void> {
  const parameters = ['--single', '-D', folder, '-c', 'exit_on_error=on', 'postgres'];
  await runPostgresProgram(context, binaries.postgres, parameters, statement);
}

function unfinishedPrefix(clusterFolder: string): string {
  return `${clusterFolder}.unfinished-`;
}

/** What an interrupted first start left. An `initdb` that still writes there fails by itself. */
function removeUnfinished(clusterFolder: string): void {
  const parent = dirname(clusterFolder);
  const prefix = basename(unfinishedPrefix(clusterFolder));
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // It is still being written; the next start removes it.
    }
  }
}

function refuseOtherVersion(clusterFolder: string, binaries: PostgresBinaries): void {
  const version = readFileSync(join(clusterFolder, 'PG_VERSION'), 'utf8').trim();
  if (version !== binaries.majorVersion) {
    throw new EmbeddedPostgresError(
      `The database in ${clusterFolder} was made by PostgreSQL ${version}, the installed one is ` +
        `${binaries.majorVersion}: move its data with pg_dump, or install the binaries of before.`,
    );
  }
}

/** A cluster that root restored from a backup belongs to root. */
function giveAway(path: string, account: PostgresAccount): void {
  lchownSync(path, account.uid, account.gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) {
      giveAway(child, account);
    } else {
      lchownSync(child, account.uid, account.gid);
    }
  }
}
