import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NAME = /^gateway-suites-(\d+)-/;
/** The suites use a fraction of this at a time. */
const LEAST_BYTES = 4 * 2 ** 30;

/**
 * Creates a folder in memory for the suites' files if there is plenty: a database has hundreds of files, and
 * creating one takes a millisecond on some file systems. `TMPDIR` overrides it.
 *
 * @returns undefined when there is none
 */
export async function makeQuickFolder() {
  if (process.env.TMPDIR !== undefined || !(await isFit())) return undefined;
  await removeAbandoned();
  const folder = await mkdtemp(join(MEMORY, `gateway-suites-${process.pid}-`));
  // As root, PostgreSQL runs as `nobody`, which needs access to the folder.
  await chmod(folder, 0o711);
  return folder;
}

async function isFit() {
  try {
    const mounts = (await readFile('/proc/mounts', 'utf8'))
      .split('\n')
      .map((line) => line.split(' '));
    const [, , kind, options = ''] = mounts.find(([, place]) => place === MEMORY) ?? [];
    // Suites run programs from the folder.
    if (kind !== 'tmpfs' || options.split(',').includes('noexec')) return false;
    const { bavail, bsize } = await statfs(MEMORY);
    const memory = Math.min(freemem(), process.constrainedMemory() || Infinity);
    return Math.min(bavail * bsize, memory) > LEAST_BYTES;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed. */
async function removeAbandoned() {
  for (const name of await readdir(MEMORY)) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(MEMORY, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
