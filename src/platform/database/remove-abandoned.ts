import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Nothing that is still being made is this old. */
const ABANDONED_AFTER_MS = 5 * 60_000;

/** Removes what processes that were killed at a bad moment left under temporary names. */
export function removeAbandoned(folder: string, prefix: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(prefix))) {
    const path = join(folder, name);
    const madeAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - madeAtMs > ABANDONED_AFTER_MS) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}
