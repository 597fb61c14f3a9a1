import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppConfig } from './app-config.js';
import { ConfigError } from './config-error.js';

const SHORTEST_SECRET = 32;

/**
 * The secret that encrypts stored credentials and signs URLs: the configured one, else the one in
 * the data folder, which is made at the first call.
 */
export function gatewaySecret(config: Pick<AppConfig, 'secret' | 'dataDirectory'>): string {
  if (config.secret) return config.secret;
  const path = join(config.dataDirectory, 'secret');
  const secret = (readIfPresent(path) ?? makeSecret(path)).trim();
  if (secret.length < SHORTEST_SECRET) {
    throw new ConfigError([
      `GATEWAY_SECRET is not set and ${path} holds fewer than ${SHORTEST_SECRET} characters`,
    ]);
  }
  return secret;
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * A link either puts the whole file in place or finds that another process was first; so nobody
 * ever reads half a secret, and two starts at once agree on one.
 */
function makeSecret(path: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}
