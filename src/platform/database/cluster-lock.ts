import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, statSync, utimes } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, type Cluster } from './cluster-location.js';
import { findRunningPort } from './postgres-server.js';
import { isProcessRunning, processSpace, processStartMark, until } from './processes.js';
import { createWholeFile, linkIfFree, readIfThere } from './whole-file.js';
import { codeOf } from '../errors/thrown.js';

/** How often an owner touches its lock file, for processes that cannot see its process id. */
const HEARTBEAT_MS = 1_000;
const SILENCE_LIMIT_MS = 3_500;

/** How long to wait for a command to end, or for a starting service. */
const PATIENCE_MS = { command: 15_000, service: 30_000 } as const;
const POLL_MS = 25;

/** The holder of the lock: a service keeps the cluster open, an operator's command uses it briefly. */
export type ClusterOwnerKind = 'service' | 'command';

interface ClusterOwner {
  kind: ClusterOwnerKind;
  pid: number;
  /** See `processStartMark`; undefined on systems without one. */
  startMark?: string;
  /** See `processSpace`. */
  space: string;
  /** Makes every lock's text unique. */
  token: string;
}

export interface ClusterLock {
  unlock: () => void;
  /** Port of the running service's PostgreSQL, for a command to use; nothing is locked then. */
  port?: number;
}

/**
 * Locks a cluster with a file that names this Node process. Waits while a command has it. A command
 * shares the PostgreSQL of a running service, and waits while that starts.
 *
 * @throws EmbeddedPostgresError when another live process (or this one) holds the lock
 */
export async function lockCluster(cluster: Cluster, kind: ClusterOwnerKind): Promise<ClusterLock> {
  const { clusterFolder, lockFile, logFile, log } = cluster;
  const token = randomBytes(8).toString('hex');
  const startMark = processStartMark(process.pid);
  const own: ClusterOwner = { kind, pid: process.pid, startMark, space: processSpace(), token };
  const text = JSON.stringify(own);
  const startedAtMs = Date.now();
  let isAnnounced = false;
  while (!createWholeFile(lockFile, `${text}\n`)) {
    const owner = await findOwner(lockFile, token);
    if (owner === undefined) continue;
    const isLate = Date.now() - startedAtMs > PATIENCE_MS[owner.kind];
    if (owner.kind === 'command') {
      if (isLate) throw inUse(cluster, owner);
      if (!isAnnounced) log(`Waiting for a command that uses the database (process ${owner.pid})`);
      isAnnounced = true;
    } else {
      if (kind === 'service' || !isNeighbour(owner)) throw inUse(cluster, owner);
      const port = findRunningPort(cluster);
      if (port !== undefined) return { port, unlock: () => undefined };
      if (isLate) {
        throw new EmbeddedPostgresError(
          `The gateway is running, but its database in ${clusterFolder} is not: see ${logFile}`,
        );
      }
    }
    await sleep(POLL_MS);
  }
  // Full and read-only disks are reported where they matter.
  const touch = (): void => utimes(lockFile, new Date(), new Date(), () => undefined);
  const heartbeat = setInterval(touch, HEARTBEAT_MS).unref();
  return {
    unlock: () => {
      clearInterval(heartbeat);
      if (readIfThere(lockFile) === text) rmSync(lockFile, { force: true });
    },
  };
}

function inUse({ dataDirectory }: Cluster, owner: ClusterOwner): EmbeddedPostgresError {
  const place = isNeighbour(owner) ? '' : ' in another container or on another machine';
  return new EmbeddedPostgresError(
    `The database in ${dataDirectory} is in use by another gateway (process ${owner.pid}${place}). ` +
      'Stop that one first, or set GATEWAY_DATA_DIR to another folder.',
  );
}

/** Returns the live process that holds the lock. Removes a stale lock by way of `<path>.<token>`. */
async function findOwner(path: string, token: string): Promise<ClusterOwner | undefined> {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const owner = parseOwner(text);
  if (owner !== undefined && (await isLive(owner, path))) return owner;
  const aside = `${path}.${token}`;
  try {
    renameSync(path, aside);
    // Another process may have replaced the lock meanwhile; put its live lock back.
    if (readIfThere(aside) !== text) linkIfFree(aside, path);
    rmSync(aside, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  return undefined;
}

/** Returns undefined when the text names no owner. */
function parseOwner(text: string): ClusterOwner | undefined {
  try {
    const owner = JSON.parse(text) as ClusterOwner;
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 ? owner : undefined;
  } catch {
    return undefined;
  }
}

/** Compares start times too: process ids are reused. */
async function isLive(owner: ClusterOwner, path: string): Promise<boolean> {
  if (!isNeighbour(owner)) return isTouched(path);
  if (!isProcessRunning(owner.pid)) return false;
  const mark = processStartMark(owner.pid);
  return mark === undefined || owner.startMark === undefined || mark === owner.startMark;
}

/** In another container, process ids and 127.0.0.1 mean something else. */
function isNeighbour(owner: ClusterOwner): boolean {
  return owner.space === processSpace();
}

/** Compares the file's times with each other only, because clocks of machines differ. */
async function isTouched(path: string): Promise<boolean> {
  const modifiedAtMs = (): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const firstMs = modifiedAtMs();
  return (await until(() => modifiedAtMs() !== firstMs, SILENCE_LIMIT_MS)) && existsSync(path);
}
