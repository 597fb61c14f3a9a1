import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProcessRunning, processCommandLine } from './process-identity.js';

/** What a running PostgreSQL writes into its cluster's `postmaster.pid`. */
export interface PostmasterPid {
  pid: number;
  port: number;
  /** Whether it takes connections. */
  ready: boolean;
}

export function postmasterPidFile(clusterFolder: string): string {
  return join(clusterFolder, 'postmaster.pid');
}

/** The file's content, or undefined when there is none or it is being written. */
export function readPostmasterPid(clusterFolder: string): PostmasterPid | undefined {
  let lines: string[];
  try {
    lines = readFileSync(postmasterPidFile(clusterFolder), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) {
    return undefined;
  }
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
}

/**
 * Whether a process is the PostgreSQL of this cluster, and not another program that was given the
 * id of one that ended. The launcher names the folder on the command line for this.
 */
export function isPostmasterOf(pid: number, clusterFolder: string): boolean {
  if (!isProcessRunning(pid)) {
    return false;
  }
  const words = ` ${processCommandLine(pid) ?? ''} `;
  return words.includes('postgres') && words.includes(` -D ${clusterFolder} `);
}
