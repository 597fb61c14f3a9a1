import { randomBytes } from 'node:crypto';
import {
  closeSync,
  futimesSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessRunning, processSpace, processStartMark } from './process-identity.js';
import { createWholeFile, linkIfFree } from './whole-file.js';
import { codeOf } from '../errors/thrown.js';

/** An owner touches its lock so often, for those who cannot see its process. */
const HEARTBEAT_MS = 1_000;
const SILENCE_LIMIT_MS = 3_500;
const SILENCE_POLL_MS = 100;

/** What a cluster is open for: a service keeps it for long, an operator's command for a moment. */
export type ClusterOwnerKind = 'service' | 'command';

export interface ClusterOwner {
  kind: ClusterOwnerKind;
  pid: number;
  /** See `processStartMark`; undefined on systems that do not tell. */
  startMark?: string;
  /** See `processSpace`. */
  space: string;
  /** Makes every lock's text unique. */
  token: string;
}

/** Another live process owns the cluster. */
export class ClusterOwnedError extends Error {
  override readonly name = 'ClusterOwnedError';

  constructor(readonly owner: ClusterOwner) {
    super(`in use by process ${owner.pid}`);
  }
}

/**
 * Locks a cluster with a file that names this Node process; answers what releases it. A lock whose
 * process is gone is taken over, also when its process id has been given to another program since.
 * Whether a process in another container lives shows in whether it goes on touching its lock.
 *
 * @throws ClusterOwnedError while another live process (or this one) holds the lock
 */
export async function lockCluster(path: string, kind: ClusterOwnerKind): Promise<() => void> {
  const token = randomBytes(8).toString('hex');
  const startMark = processStartMark(process.pid);
  const space = processSpace();
  const owner: ClusterOwner = { kind, pid: process.pid, startMark, space, token };
  const text = JSON.stringify(owner) + '\n';
  while (!createWholeFile(path, text)) {
    const holder = readLock(path);
    if (holder?.owner !== undefined && (await isLive(holder.owner, path))) {
      throw new ClusterOwnedError(holder.owner);
    }
    if (holder !== undefined) removeStale(path, holder.text, `${path}.${token}`);
  }
  const descriptor = openSync(path, 'r+');
  const heartbeat = setInterval(() => touch(descriptor), HEARTBEAT_MS).unref();
  return () => {
    clearInterval(heartbeat);
    closeSync(descriptor);
    if (readLock(path)?.text === text) rmSync(path, { force: true });
  };
}

/** Whether the owner's database can be reached: in another container, 127.0.0.1 is another place. */
export function isNeighbour(owner: ClusterOwner): boolean {
  return owner.space === processSpace();
}

function touch(descriptor: number): void {
  try {
    futimesSync(descriptor, new Date(), new Date());
  } catch {
    // A full or read-only disk will be noticed where it matters.
  }
}

async function isLive(owner: ClusterOwner, path: string): Promise<boolean> {
  if (!isNeighbour(owner)) return isTouched(path);
  if (!isProcessRunning(owner.pid)) return false;
  const mark = processStartMark(owner.pid);
  return mark === undefined || owner.startMark === undefined || mark === owner.startMark;
}

/** Compares the file's times with each other only: clocks of machines differ. */
async function isTouched(path: string): Promise<boolean> {
  const modifiedAtMs = (): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const firstMs = modifiedAtMs();
  for (let waitedMs = 0; waitedMs < SILENCE_LIMIT_MS; waitedMs += SILENCE_POLL_MS) {
    await sleep(SILENCE_POLL_MS);
    if (modifiedAtMs() !== firstMs) return modifiedAtMs() !== 0;
  }
  return false;
}

/** The owner is undefined where the text does not name one. */
function readLock(path: string): { text: string; owner?: ClusterOwner } | undefined {
  const text = ifThere(() => readFileSync(path, 'utf8'));
  if (text === undefined) return undefined;
  try {
    const owner = JSON.parse(text) as ClusterOwner;
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 ? { text, owner } : { text };
  } catch {
    return { text };
  }
}

/**
 * Removes the lock that was read as `staleText`. It is renamed first: when another process replaced
 * it meanwhile, what was moved is that live lock, and it is put back.
 */
function removeStale(path: string, staleText: string, aside: string): void {
  ifThere(() => {
    renameSync(path, aside);
    if (readFileSync(aside, 'utf8') !== staleText) linkIfFree(aside, path);
    rmSync(aside, { force: true });
  });
}

/** Undefined when the file is gone. */
function ifThere<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
