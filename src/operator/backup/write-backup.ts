import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Client } from 'pg';
import { BackupWriter } from './backup-archive.js';
import { connectForCopy, copyOut, listMigrations, quote, type CopiedTable } from './table-copy.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import { codeOf, toError } from '../../platform/errors/thrown.js';
import {
  COUNTS_MEMBER,
  describeDatabase,
  HEADER_MEMBER,
  type BackupCounts,
  type BackupHeader,
} from './backup-header.js';

/** Thrown when a backup cannot be made. The message is for the operator. */
class BackupError extends Error {
  override readonly name = 'BackupError';
}

export interface WrittenBackup extends BackupCounts {
  readonly header: BackupHeader;
}

/**
 * Writes a snapshot of the database and the artifacts of the data folder, also while the service
 * is in use.
 * @param withArtifacts false leaves out artifacts
 */
export async function writeBackup(
  { url, config, withArtifacts }: { url: string; config: AppConfig; withArtifacts: boolean },
  target: Writable,
): Promise<WrittenBackup> {
  const client = await connectForCopy(url);
  const writer = new BackupWriter(target);
  try {
    const hasMonths = await hasMonthsOfLog(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    if (hasMonths) await keepMonthsOfLog(client);
    if ((await listMigrations(client)).length === 0) {
      throw new BackupError(
        'There is nothing to back up: this database does not contain the tables of the service.',
      );
    }
    const header = await describeDatabase(client, config);
    await writer.add(HEADER_MEMBER, toJson(header));
    const rows = await addTables(writer, client, header.tables);
    await client.query('COMMIT');
    const folder = withArtifacts && config.s3 === undefined ? artifactFolder(config) : undefined;
    const artifacts = await addArtifacts(writer, folder);
    await writer.add(COUNTS_MEMBER, toJson({ rows, artifacts }));
    await writer.finish();
    return { header, rows, artifacts };
  } catch (error) {
    await writer.abort(toError(error));
    throw error;
  } finally {
    await client.end();
  }
}

async function hasMonthsOfLog(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('request_logs_months') IS NOT NULL AS found`,
  );
  return rows[0]!.found;
}

/**
 * Must run before the snapshot is taken: a month archived between the two would be missing from
 * both the table and the archive list.
 */
async function keepMonthsOfLog(client: Client): Promise<void> {
  await client.query('LOCK TABLE ONLY request_logs_months IN ACCESS SHARE MODE');
}

/** Returns the artifact folder used without a bucket. */
export function artifactFolder({ dataDirectory }: Pick<AppConfig, 'dataDirectory'>): string {
  return join(dataDirectory, 'artifacts');
}

async function addTables(
  writer: BackupWriter,
  client: Client,
  tables: readonly CopiedTable[],
): Promise<Record<string, number>> {
  // Makes migrations wait until the end instead of changing a table before it is read.
  const names = tables.map(({ name }) => quote(name));
  if (names.length > 0) await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`);
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const parts = copyOut(client, table);
    let part = await parts.next();
    for (let number = 1; part.done !== true; number++) {
      await writer.add(`tables/${table.name}/${String(number).padStart(6, '0')}`, part.value);
      part = await parts.next();
    }
    counts[table.name] = part.value;
  }
  return counts;
}

/** Artifacts never change, but can expire before they are read. */
async function addArtifacts(
  writer: BackupWriter,
  root: string | undefined,
): Promise<BackupCounts['artifacts']> {
  const counts = { files: 0, bytes: 0 };
  if (root === undefined) return counts;
  for (const folder of await foldersIn(root)) {
    for (const name of await readdir(join(root, folder))) {
      const file = await openIfThere(join(root, folder, name));
      if (file === undefined) continue;
      // The stream closes the file on end or destroy.
      const content = file.createReadStream();
      try {
        const { size } = await file.stat();
        await writer.addStream({ name: `artifacts/${folder}/${name}`, size, content });
        counts.files++;
        counts.bytes += size;
      } finally {
        content.destroy();
      }
    }
  }
  return counts;
}

/** Returns folders with complete files; see `LocalArtifactStore`. */
async function foldersIn(root: string): Promise<string[]> {
  const names = await readdir(root).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => /^[0-9a-f]{2}$/.test(name)).sort();
}

async function openIfThere(path: string) {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const toJson = (value: object): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
