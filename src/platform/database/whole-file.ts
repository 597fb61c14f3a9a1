import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../errors/thrown.js';

/** Nothing that is still being made is this old. */
const ABANDONED_AFTER_MS = 5 * 60_000;

/**
 * Makes a file that appears with its whole text or not at all, so that nobody reads half of it.
 * Answers false when there is one with this name.
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

/** The text of a file without space around it; undefined when there is no such file. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Makes a rename in a folder outlast a power cut, on systems where a folder can be opened for it. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  if (!folder) return;
  try {
    await folder.sync();
  } catch {
    // Some systems cannot do it; the file is in place all the same.
  } finally {
    await folder.close();
  }
}

/** Gives a file a second name, unless that one is taken: then answers false. */
export function linkIfFree(existing: string, path: string): boolean {
  try {
    linkSync(existing, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes what processes that were killed at a bad moment left under temporary names. */
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
