import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** No installation takes this long, so an older lock's process id belongs to another program. */
const ABANDONED_AFTER_MS = 15 * 60_000;
const POLL_MS = 200;

/**
 * Runs `work` while no other process installs or builds in the same folder, so that a service and a
 * command that start together on a fresh clone do not overwrite each other's files.
 */
export async function withSetupLock(root, say, work) {
  const path = join(root, '.setup-lock');
  for (let isAnnounced = false; !tryLock(path);) {
    const holder = readHolder(path);
    if (holder !== undefined && !isAlive(holder)) {
      rmSync(path, { force: true });
      continue;
    }
    if (!isAnnounced) {
      say('Waiting for another process that prepares this folder');
      isAnnounced = true;
    }
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

/** Returns undefined when the lock was removed meanwhile. */
function readHolder(path) {
  try {
    return { pid: Number(readFileSync(path, 'utf8')), takenAtMs: statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}

function isAlive({ pid, takenAtMs }) {
  const ageMs = Date.now() - takenAtMs;
  if (ageMs > ABANDONED_AFTER_MS) {
    return false;
  }
  if (!Number.isSafeInteger(pid) || pid <= 0) {
    // The file is created slightly before its content is written.
    return ageMs < 1_000;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
