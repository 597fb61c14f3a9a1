import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { postmasterOf } from './embedded-postgres-service.js';

/** As Linux lists them. */
function childrenOf(pid: number): number[] {
  const children = readdirSync('/proc').filter((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(parent) === pid;
    } catch {
      return false;
    }
  });
  return children.map(Number);
}

/** The server keeps its connections and takes new ones, and says nothing. Returns what lets it go on. */
export function freezePostgres(clusterFolder: string): () => void {
  const postmaster = postmasterOf(clusterFolder);
  // It first, so that it makes none after the look.
  process.kill(postmaster, 'SIGSTOP');
  const stopped = childrenOf(postmaster);
  for (const pid of stopped) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of [postmaster, ...stopped]) process.kill(pid, 'SIGCONT');
  };
}

/** A disk of its own for a folder, in memory. False where this user or system cannot have one. */
export function mountDisk(folder: string, megabytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder];
  return spawnSync('mount', options).status === 0;
}

export function unmountDisk(folder: string): void {
  spawnSync('umount', [folder]);
}

/** Takes all the room that is left. Returns what gives it back. */
export function fillDisk(folder: string): () => void {
  const path = join(folder, 'filler');
  const file = openSync(path, 'w');
  const piece = Buffer.alloc(64 * 1024);
  try {
    for (;;) if (writeSync(file, piece) < piece.length) break;
  } catch {
    // There is none left.
  }
  closeSync(file);
  return () => rmSync(path);
}

/** As `ALTER SYSTEM` and a reload do, for which one has to be its superuser. */
export function configurePostgres(clusterFolder: string, line: string): void {
  appendFileSync(join(clusterFolder, 'postgresql.conf'), `\n${line}\n`);
  process.kill(postmasterOf(clusterFolder), 'SIGHUP');
}
