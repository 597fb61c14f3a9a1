import { randomBytes } from 'node:crypto';
import {
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import type { AppConfig } from './app-config.js';
import { ConfigError } from './config-error.js';
import { codeOf } from '../errors/thrown.js';

const SHORTEST_SECRET = 32;

type SecretConfig = Pick<AppConfig, 'secret' | 'secretFile' | 'previousSecrets' | 'dataDirectory'>;

/**
 * Returns the secrets that encrypt stored credentials and sign URLs: the current one first, configured or from the first
 * line of its file, then previous ones. Call it at each use, since the file may change.
 */
export function gatewaySecrets(config: SecretConfig): readonly string[] {
  const { secret, previousSecrets } = config;
  const current = secret === undefined ? readSecretFile(config) : [secret];
  return previousSecrets.length === 0 ? current : [...current, ...previousSecrets];
}

/** Returns the secret's file when it is not configured. */
export function secretFileOf({
  secretFile,
  dataDirectory,
}: Pick<SecretConfig, 'secretFile' | 'dataDirectory'>): string {
  return secretFile ?? join(dataDirectory, 'secret');
}

/** Writes secrets to the file, the current one first. Atomic, and keeps the owner: a command may run as another user than the service. */
export function writeSecretFile(path: string, secrets: readonly string[]): void {
  const draft = writeDraft(path, secrets);
  try {
    const { uid, gid } = statSync(path);
    if (uid !== process.getuid?.()) chownSync(draft, uid, gid);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

export function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

interface ReadFile {
  stamp: string;
  secrets: readonly string[];
}

/** Contents by path; a file is read again when it changes. */
const readFiles = new Map<string, ReadFile>();

/** Creates the data folder's file on the first call; a configured file must exist. */
function readSecretFile(config: SecretConfig): readonly string[] {
  const path = secretFileOf(config);
  let stats = statIfPresent(path);
  if (!stats && config.secretFile === undefined) {
    makeSecretFile(path);
    stats = statSync(path);
  }
  const stamp = stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : 'absent';
  const known = readFiles.get(path);
  if (known?.stamp === stamp) return known.secrets;
  const secrets = stats
    ? readFileSync(path, 'utf8')
        .trim()
        .split(/\s*\n\s*/)
    : [''];
  if (secrets.some((secret) => secret.length < SHORTEST_SECRET)) {
    throw new ConfigError([
      `GATEWAY_SECRET is not set and ${path} holds fewer than ${SHORTEST_SECRET} characters`,
    ]);
  }
  readFiles.set(path, { stamp, secrets });
  return secrets;
}

function statIfPresent(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Creates the file by a hard link, which unlike a rename fails when another process was first, so that concurrent starts agree. */
function makeSecretFile(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const draft = writeDraft(path, [makeSecret()]);
  try {
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeDraft(path: string, secrets: readonly string[]): string {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, secrets.map((secret) => `${secret}\n`).join(''), {
    mode: 0o600,
    flag: 'wx',
  });
  return draft;
}
