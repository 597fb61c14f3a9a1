import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '../http/json-body.js';

let known: string | undefined;

/** Returns the version in `package.json`, such as `1.0.0`; `unknown` without one. */
export function programVersion(): string {
  return (known ??= readVersion(dirname(fileURLToPath(import.meta.url))));
}

/** The file is above the sources, and one folder further above the build. */
function readVersion(folder: string): string {
  const path = join(folder, 'package.json');
  if (!existsSync(path))
    return dirname(folder) === folder ? 'unknown' : readVersion(dirname(folder));
  const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return isJsonObject(manifest) && typeof manifest.version === 'string'
    ? manifest.version
    : 'unknown';
}
