import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The system account a PostgreSQL runs as when Node is root, since PostgreSQL refuses root. */
export interface PostgresAccount {
  uid: number;
  gid: number;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The account `nobody`. */
export function nobodyAccount(): PostgresAccount {
  const line = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(readAccounts());
  return { uid: Number(line?.[1] ?? 65534), gid: Number(line?.[2] ?? 65534) };
}

/**
 * The first folder on the way to `path` (itself included, when it is a folder) that the account may
 * not pass through, or undefined when it can get there. `path` must be real: no symbolic links.
 */
export function findBlockingFolder(path: string, account: PostgresAccount): string | undefined {
  const folders = [];
  for (let folder = path; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === dirname(folder)) {
      break;
    }
  }
  return folders.find(
    (folder) => statSync(folder).isDirectory() && !hasPermission(folder, account, 0o1),
  );
}

/** Whether the account may do all of `wanted` (4 read, 2 write, 1 execute or enter) with a file. */
export function hasPermission(path: string, account: PostgresAccount, wanted: number): boolean {
  const { uid, gid, mode } = statSync(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

function readAccounts(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
