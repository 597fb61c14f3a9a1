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

/** Returns the children that Linux lists. */
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

/** Freezes the server: it keeps and accepts connections but stays silent. @returns a function that thaws it */
export function freezePostgres(clusterFolder: string): () => void {
  const postmaster = postmasterOf(clusterFolder);
  // The postmaster first, so that it starts no child after they are listed.
  process.kill(postmaster, 'SIGSTOP');
  const stopped = childrenOf(postmaster);
  for (const pid of stopped) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of [postmaster, ...stopped]) process.kill(pid, 'SIGCONT');
  };
}

/** Mounts a disk in memory on a folder. @returns false where this user or system cannot */
export function mountDisk(folder: string, megabytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder];
  return spawnSync('mount', options).status === 0;
}

export function unmountDisk(folder: string): void {
  spawnSync('umount', [folder]);
}

/** Uses up the free space. @returns a function that frees it */
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

/** Appends a setting and reloads, like `ALTER SYSTEM`, which needs a superuser. */
export function configurePostgres(clusterFolder: string, line: string): void {
  appendFileSync(join(clusterFolder, 'postgresql.conf'), `\n${line}\n`);
  process.kill(postmasterOf(clusterFolder), 'SIGHUP');
}
