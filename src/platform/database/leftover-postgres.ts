import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { STOP_STEPS } from './postgres-process.js';
import { isPostmasterOf, postmasterPidFile, readPostmasterPid } from './postmaster-pid.js';

const POLL_MS = 5;

/**
 * Ends a PostgreSQL that outlived its service, so that the next one can be watched and logged like
 * any other; a stop and a start take less than 0.1 s. The caller owns the cluster's lock.
 */
export async function stopLeftoverPostgres(
  clusterFolder: string,
  log: (line: string) => void,
): Promise<void> {
  const pid = readPostmasterPid(clusterFolder)?.pid;
  if (pid === undefined) {
    return;
  }
  if (isPostmasterOf(pid, clusterFolder)) {
    log(`Stopping a PostgreSQL that outlived its service (process ${pid})`);
    await stopProcess(pid, clusterFolder);
  }
  // PostgreSQL itself only looks whether this process id exists, and would refuse to start when it
  // was given to another program, or when nobody has reaped the process yet. Children of its
  // predecessor that are still ending it notices by their shared memory, without this file.
  rmSync(postmasterPidFile(clusterFolder), { force: true });
}

async function stopProcess(pid: number, clusterFolder: string): Promise<void> {
  for (const { signal, waitMs } of STOP_STEPS) {
    sendSignal(pid, signal);
    const deadlineMs = Date.now() + waitMs;
    while (Date.now() < deadlineMs) {
      if (!isPostmasterOf(pid, clusterFolder)) {
        return;
      }
      await sleep(POLL_MS);
    }
  }
  throw new EmbeddedPostgresError(
    `A PostgreSQL that outlived its service (process ${pid}) cannot be stopped: end it by hand.`,
  );
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It may have ended by itself a moment ago.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
      throw error;
    }
  }
}
