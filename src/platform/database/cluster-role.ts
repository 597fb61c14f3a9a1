import { existsSync, lchownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.js';
import { runPostgresProgram, type PostgresContext } from './postgres-program.js';

/** The role that the gateway connects as, and the database that it owns. */
export const EMBEDDED_USER = 'gateway';
export const EMBEDDED_DATABASE = 'gateway';
/** Made with the cluster. Nobody can connect as it: PostgreSQL alone is it, without a server. */
export const EMBEDDED_SUPERUSER = 'gateway_admin';

/** In a cluster's folder: its role is no superuser. */
const MARKER = 'gateway-role-is-ordinary';

/** The statements that a new cluster begins with, one a line, for the database `postgres`. */
export function firstStatements(password: string, createsDatabases: boolean): string {
  const rights = createsDatabases ? 'CREATEDB' : '';
  return [
    `ALTER ROLE ${EMBEDDED_SUPERUSER} NOLOGIN PASSWORD NULL;`,
    `CREATE ROLE ${EMBEDDED_USER} LOGIN ${rights} PASSWORD '${password}';`,
    `CREATE DATABASE ${EMBEDDED_DATABASE} OWNER ${EMBEDDED_USER};`,
    '',
  ].join('\n');
}

export function markRoleAsOrdinary({ account }: PostgresContext, folder: string): void {
  const marker = join(folder, MARKER);
  writeFileSync(marker, '');
  if (account !== undefined) lchownSync(marker, account.uid, account.gid);
}

/**
 * In clusters of before, the role `gateway` is the superuser. It is renamed, loses its login, and an
 * ordinary role of its name and password gets the database with all that is in it. May be broken off
 * at any point and done again.
 */
export async function takeSuperuserAway(
  context: PostgresContext,
  binaries: PostgresBinaries,
  password: string,
): Promise<void> {
  const { clusterFolder } = context;
  if (existsSync(join(clusterFolder, MARKER))) return;
  const statements = [makeOrdinaryRole(password), GIVE_OBJECTS].map(onOneLine).join('\n');
  await runSingleUser(context, binaries, {
    folder: clusterFolder,
    database: EMBEDDED_DATABASE,
    statements: `${statements}\n`,
  });
  markRoleAsOrdinary(context, clusterFolder);
}

/**
 * Runs statements, one a line, as the superuser and without a server; nobody else may use the
 * cluster. The first that fails ends it.
 */
export async function runSingleUser(
  context: PostgresContext,
  binaries: PostgresBinaries,
  { folder, database, statements }: { folder: string; database: string; statements: string },
): Promise<void> {
  const parameters = ['--single', '-D', folder, '-c', 'exit_on_error=on', database];
  await runPostgresProgram(context, binaries.postgres, parameters, statements);
}

/** The role of a session cannot be renamed with ALTER ROLE, and this session's is the superuser. */
function makeOrdinaryRole(password: string): string {
  return `
    DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_authid WHERE oid = 10 AND rolname = '${EMBEDDED_USER}') THEN
        UPDATE pg_authid SET rolname = '${EMBEDDED_SUPERUSER}', rolcanlogin = false,
          rolpassword = NULL WHERE oid = 10;
        CREATE ROLE ${EMBEDDED_USER} LOGIN PASSWORD '${password}';
        ALTER DATABASE ${EMBEDDED_DATABASE} OWNER TO ${EMBEDDED_USER};
      END IF;
    END $$;`;
}

/**
 * REASSIGN OWNED does not take what belongs to the first superuser. Indexes, and sequences and types
 * that belong to tables, go with those.
 */
const GIVE_OBJECTS = `
  DO $$ DECLARE each record; BEGIN
    FOR each IN
      WITH own AS (
        SELECT oid, nspname FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
      )
      SELECT 1 AS place, 'SCHEMA' AS kind, quote_ident(nspname) AS name FROM own
      WHERE nspname <> 'public'
      UNION ALL
      SELECT 2, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
        WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, pg_class.oid::regclass::text
      FROM pg_class JOIN own ON own.oid = relnamespace
      WHERE relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid
          AND deptype IN ('a', 'i') AND relkind = 'S'
      )
      UNION ALL
      SELECT 3, 'ROUTINE', pg_proc.oid::regprocedure::text
      FROM pg_proc JOIN own ON own.oid = pronamespace
      UNION ALL
      SELECT 4, 'TYPE', pg_type.oid::regtype::text
      FROM pg_type JOIN own ON own.oid = typnamespace LEFT JOIN pg_class ON pg_class.oid = typrelid
      WHERE typtype IN ('c', 'd', 'e', 'r') AND (typrelid = 0 OR relkind = 'c')
      ORDER BY place
    LOOP
      EXECUTE format('ALTER %s %s OWNER TO ${EMBEDDED_USER}', each.kind, each.name);
    END LOOP;
  END $$;`;

function onOneLine(statement: string): string {
  return statement.replace(/\s*\n\s*/g, ' ').trim();
}
