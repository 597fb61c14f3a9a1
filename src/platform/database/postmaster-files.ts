/** What a running PostgreSQL leaves in its cluster's folder: who it is, and where it listens. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isProcessRunning, processCommandLine } from './process-identity.js';

/** What macOS takes; Linux takes four bytes more. */
const MAX_SOCKET_PATH_BYTES = 103;

/** PostgreSQL's own name of its sockets, each with a lock beside it. */
const SOCKET_NAME = '.s.PGSQL.';
const socketFile = (clusterFolder: string, port: number): string =>
  join(clusterFolder, `${SOCKET_NAME}${port}`);

const postmasterPidFile = (clusterFolder: string): string => join(clusterFolder, 'postmaster.pid');

/** What a running PostgreSQL says about itself; undefined when there is none or it is being written. */
export function readPostmasterPid(
  clusterFolder: string,
): { pid: number; port: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(postmasterPidFile(clusterFolder), 'utf8').split('\n');
    const pid = Number(lines[0]);
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return undefined;
  }
}

/**
 * Whether a process is the PostgreSQL of this cluster, and not another program that was given the
 * id of one that ended. `launch` names the folder on the command line for this.
 */
export function isPostmasterOf(pid: number, clusterFolder: string): boolean {
  if (!isProcessRunning(pid)) return false;
  const words = ` ${processCommandLine(pid) ?? ''} `;
  return words.includes('postgres') && words.includes(` -D ${clusterFolder} `);
}

/**
 * The cluster's own folder, into which nobody else can look, as PostgreSQL's list of folders for its socket: a
 * statement costs both sides a fifth less than over TCP. Empty where the socket's path would be too long.
 */
export function socketFolders(clusterFolder: string, port: number): string {
  const isTooLong = Buffer.byteLength(socketFile(clusterFolder, port)) > MAX_SOCKET_PATH_BYTES;
  return isTooLong ? '' : `"${clusterFolder.replaceAll('"', '""')}"`;
}

/** Where a cluster's PostgreSQL listens on a socket; undefined where it listens on TCP alone. */
export function findSocketFolder(clusterFolder: string, port: number): string | undefined {
  return existsSync(socketFile(clusterFolder, port)) ? clusterFolder : undefined;
}

/** The port on which a cluster's PostgreSQL takes connections; undefined: it does not yet. */
export function findRunningPort(clusterFolder: string): number | undefined {
  const status = readPostmasterPid(clusterFolder);
  return status?.ready === true && isPostmasterOf(status.pid, clusterFolder)
    ? status.port
    : undefined;
}

/** To be called when it has ended without tidying up. */
export function removePostmasterFiles(clusterFolder: string): void {
  rmSync(postmasterPidFile(clusterFolder), { force: true });
  for (const name of readdirSync(clusterFolder)) {
    if (name.startsWith(SOCKET_NAME)) rmSync(join(clusterFolder, name), { force: true });
  }
}
