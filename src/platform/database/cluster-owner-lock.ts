import { randomBytes } from 'node:crypto';
import {
  closeSync,
  futimesSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessRunning, processSpace, processStartMark } from './process-identity.js';
import { removeAbandoned } from './remove-abandoned.js';

/** An owner touches its lock so often, for those who cannot see its process. */
const BEAT_MS = 1_000;
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
 * A file that names the Node process a cluster belongs to. A lock whose process is gone is taken
 * over, also when its process id has been given to another program since. Whether a process in
 * another container lives shows in whether it goes on touching its lock.
 */
export class ClusterOwnerLock {
  private readonly descriptor: number;
  private readonly beating: NodeJS.Timeout;

  private constructor(
    private readonly path: string,
    private readonly text: string,
  ) {
    this.descriptor = openSync(path, 'r+');
    this.beating = setInterval(() => this.beat(), BEAT_MS).unref();
  }

  /** Throws `ClusterOwnedError` while another live process (or this one) holds the lock. */
  static async acquire(path: string, kind: ClusterOwnerKind): Promise<ClusterOwnerLock> {
    const token = randomBytes(8).toString('hex');
    const owner: ClusterOwner = {
      kind,
      pid: process.pid,
      startMark: processStartMark(process.pid),
      space: processSpace(),
      token,
    };
    const text = JSON.stringify(owner) + '\n';
    removeAbandoned(dirname(path), `${basename(path)}.`);
    // A link appears with its whole text or not at all, so nobody reads half a lock.
    const candidate = `${path}.${token}`;
    writeFileSync(candidate, text, { flag: 'wx', mode: 0o644 });
    try {
      while (!tryLink(candidate, path)) {
        const holder = readLock(path);
        if (holder?.owner !== undefined && (await isLive(holder.owner, path))) {
          throw new ClusterOwnedError(holder.owner);
        }
        if (holder !== undefined) {
          removeStale(path, holder.text, candidate);
        }
      }
      return new ClusterOwnerLock(path, text);
    } finally {
      rmSync(candidate, { force: true });
    }
  }

  release(): void {
    clearInterval(this.beating);
    closeSync(this.descriptor);
    if (readLock(this.path)?.text === this.text) {
      rmSync(this.path, { force: true });
    }
  }

  private beat(): void {
    try {
      futimesSync(this.descriptor, new Date(), new Date());
    } catch {
      // A full or read-only disk will be noticed where it matters.
    }
  }
}

/** The live process that holds the lock at `path`, if any. */
export async function findClusterOwner(path: string): Promise<ClusterOwner | undefined> {
  const owner = readLock(path)?.owner;
  return owner !== undefined && (await isLive(owner, path)) ? owner : undefined;
}

/** Whether the owner's database can be reached: in another container, 127.0.0.1 is another place. */
export function isNeighbour(owner: ClusterOwner): boolean {
  return owner.space === processSpace();
}

async function isLive(owner: ClusterOwner, path: string): Promise<boolean> {
  if (!isNeighbour(owner)) {
    return isBeating(path);
  }
  if (!isProcessRunning(owner.pid)) {
    return false;
  }
  const mark = processStartMark(owner.pid);
  return mark === undefined || owner.startMark === undefined || mark === owner.startMark;
}

/** Compares the file's times with each other only: clocks of machines differ. */
async function isBeating(path: string): Promise<boolean> {
  const modifiedAtMs = (): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const firstMs = modifiedAtMs();
  for (let waitedMs = 0; waitedMs < SILENCE_LIMIT_MS; waitedMs += SILENCE_POLL_MS) {
    await sleep(SILENCE_POLL_MS);
    if (modifiedAtMs() !== firstMs) {
      return modifiedAtMs() !== 0;
    }
  }
  return false;
}

function readLock(path: string): { text: string; owner?: ClusterOwner } | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
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
function removeStale(path: string, staleText: string, candidate: string): void {
  const aside = `${candidate}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return;
    }
    throw error;
  }
  if (readFileSync(aside, 'utf8') !== staleText) {
    tryLink(aside, path);
  }
  rmSync(aside, { force: true });
}

function tryLink(existing: string, path: string): boolean {
  try {
    linkSync(existing, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}
