import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../errors/thrown.js';

/** Older temporary files are abandoned. */
const ABANDONED_AFTER_MS = 5 * 60_000;

/**
 * Creates a file atomically with its whole text, so that no process reads half of it. Returns false
 * when the name is taken.
 */
export function createWholeFile(path: string, text: string, mode = 0o644): boolean {
  removeAbandoned(`${path}.`);
  const candidate = `${path}.${randomBytes(8).toString('hex')}`;
  writeFileSync(candidate, text, { flag: 'wx', mode });
  try {
    return linkIfFree(candidate, path);
  } finally {
    rmSync(candidate, { force: true });
  }
}

/** Returns a file's trimmed text; undefined when there is no such file. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Makes a rename in a folder survive a power failure, on systems that can open folders. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  if (!folder) return;
  try {
    await folder.sync();
  } catch {
    // Not all systems support it; the file is in place anyway.
  } finally {
    await folder.close();
  }
}

/** Gives a file a second name. Returns false when the name is taken. */
export function linkIfFree(existing: string, path: string): boolean {
  try {
    linkSync(existing, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes temporary files that killed processes left behind. */
export function removeAbandoned(prefix: string, olderThanMs = ABANDONED_AFTER_MS): void {
  const folder = dirname(prefix);
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(basename(prefix)))) {
    const path = join(folder, name);
    const madeAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    try {
      if (Date.now() - madeAtMs >= olderThanMs) rmSync(path, { recursive: true, force: true });
    } catch {
      // It is still being written; the next start removes it.
    }
  }
}
