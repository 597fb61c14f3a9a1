import { resolve } from 'node:path';
import type { BookFigures } from '../../core/ledger/books.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { BackupCounts, BackupHeader } from './backup-header.js';
import type { RestoredBackup } from './restore-backup.js';
import type { WrittenBackup } from './write-backup.js';

/** Returns the report of a written backup. */
export function describeWritten(
  { header, ...counts }: WrittenBackup,
  { file, config, withArtifacts }: { file: string; config: AppConfig; withArtifacts: boolean },
): string[] {
  return [
    `Wrote ${file === '-' ? 'the backup' : resolve(file)}: ${contentLine(header, counts)}, as of ${header.createdAt}.`,
    artifactLine(counts, config, withArtifacts),
    booksLine(header.books.figures),
    ...header.books.faults.map((fault) => `THE BOOKS DO NOT BALANCE: ${fault}`),
    `GATEWAY_SECRET (fingerprint ${header.secrets.join(', ')}) is not included and is needed for a restore: store it elsewhere.`,
  ];
}

/** Returns the report of a restored backup. */
export function describeRestored({
  header,
  counts,
  figures,
  faults,
  newMigrations,
  foreign,
}: RestoredBackup): string[] {
  const open = Number(figures['open holds']);
  return [
    `Restored the database as of ${header.createdAt} (version ${header.version}): ${contentLine(header, counts)}, ${counts.artifacts.files} artifacts.`,
    ...(newMigrations.length === 0
      ? []
      : [`Migrated its schema to this version: ${newMigrations.join(', ')}.`]),
    ...foreign.map(
      (name) =>
        `NOT RESTORED because it is not the service's: table ${name}, ${counts.rows[name] ?? 0} rows.`,
    ),
    booksLine(figures),
    ...(faults.length === 0
      ? ['The books balance.']
      : faults.map((fault) => `THE BOOKS DO NOT BALANCE, as in the backup: ${fault}`)),
    ...(open === 0
      ? []
      : [
          `${open} requests and jobs were open: when the service starts, it returns the credits of requests and logs them as "crashed" at no cost; jobs continue.`,
        ]),
  ];
}

/** Returns a database URL without credentials. */
export function placeOf(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

function contentLine({ tables, migrations }: BackupHeader, { rows }: BackupCounts): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return `${total} rows of ${tables.length} tables, schema ${migrations.at(-1) ?? 'none'}`;
}

function booksLine(figures: Record<string, string> | BookFigures): string {
  const parts = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  return `Books: ${parts.join(', ')}.`;
}

function artifactLine(
  { artifacts: { files, bytes } }: BackupCounts,
  { s3 }: AppConfig,
  withArtifacts: boolean,
): string {
  if (s3)
    return `Artifacts are NOT included: they are in the bucket ${s3.bucket}; back it up separately.`;
  if (!withArtifacts)
    return 'Artifacts were left out as requested: job results will be missing after a restore.';
  return `Artifacts: ${files} files of ${bytes} bytes.`;
}
