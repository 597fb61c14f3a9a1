import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { PassThrough, type Writable } from 'node:stream';
import type { AppConfig } from '../../platform/config/app-config.js';
import { markAsMoved } from '../../platform/database/cluster-location.js';
import {
  attachEmbeddedPostgres,
  startEmbeddedPostgres,
  upgradeCluster,
} from '../../platform/database/embedded-postgres.js';
import { syncFolder } from '../../platform/database/whole-file.js';
import { BackupFileError } from './backup-archive.js';
import { describeRestored, describeWritten, placeOf } from './describe-backup.js';
import { restoreBackup, type RestoredBackup } from './restore-backup.js';
import type { RestoreOptions } from './staging-loader.js';
import { writeBackup, type WrittenBackup } from './write-backup.js';

interface Operator {
  readonly config: AppConfig;
  /** Receives progress lines. */
  readonly log: (line: string) => void;
}

/** File name for standard input or output. */
const STANDARD = '-';

/** Backs up the service's database, also while it is in use. @returns report lines */
export async function backUp(
  file: string,
  { config, log, withArtifacts }: Operator & { withArtifacts: boolean },
): Promise<string[]> {
  const { dataDirectory } = config;
  const database =
    config.databaseUrl === undefined
      ? await attachEmbeddedPostgres({ dataDirectory, log })
      : { url: config.databaseUrl, stop: () => Promise.resolve() };
  try {
    const source = { url: database.url, config, withArtifacts };
    const written =
      file === STANDARD
        ? await writeBackup(source, process.stdout)
        : await writeWholeFile(file, (target) => writeBackup(source, target));
    return describeWritten(written, { file, config, withArtifacts });
  } finally {
    await database.stop();
  }
}

/**
 * Restores a backup into the service's database, which must not be in use.
 * @returns report lines
 */
export async function restore(
  file: string,
  { config, log, ...options }: Operator & Pick<RestoreOptions, 'replaces' | 'takesOtherSecret'>,
): Promise<string[]> {
  const input = file === STANDARD ? undefined : await open(file, 'r');
  try {
    const { databaseUrl, dataDirectory } = config;
    const embedded =
      databaseUrl === undefined ? await startEmbeddedPostgres({ dataDirectory, log }) : undefined;
    try {
      const restored = await restoreBackup(input?.createReadStream() ?? process.stdin, {
        ...options,
        config,
        url: embedded?.url ?? databaseUrl ?? '',
        isExclusive: embedded !== undefined,
      });
      return describeRestored(restored);
    } finally {
      await embedded?.stop();
    }
  } finally {
    await input?.close();
  }
}

/**
 * Moves the embedded database to a server, or with `embedded` to a cluster of the installed
 * PostgreSQL. Deletes nothing at the source.
 * @returns report lines with the next steps
 */
export async function move(
  place: string,
  {
    config,
    log,
    binaries,
    replaces,
  }: Operator & { binaries: string | undefined; replaces: boolean },
): Promise<string[]> {
  const { dataDirectory } = config;
  if (place === 'embedded') {
    const lines: string[] = [];
    const { from, to, kept } = await upgradeCluster(
      { dataDirectory, log, binaries },
      async (fromUrl, url) => {
        lines.push(
          ...describeRestored(
            await copy(fromUrl, {
              config,
              url,
              replaces: true,
              takesOtherSecret: false,
              isExclusive: true,
            }),
          ),
        );
      },
    );
    return [
      ...lines,
      `The database now uses PostgreSQL ${to}. The old cluster (PostgreSQL ${from}) is in ${kept}; delete it once everything works.`,
    ];
  }
  const embedded = await startEmbeddedPostgres({ dataDirectory, log });
  let takeBack = (): void => undefined;
  try {
    const restored = await copy(embedded.url, {
      ...{ config, url: place, replaces, takesOtherSecret: false, isExclusive: false },
      beforePlacing: () => (takeBack = markAsMoved(dataDirectory, placeOf(place))),
    });
    return [
      ...describeRestored(restored),
      `The database is now at ${placeOf(place)}: start the service with DATABASE_URL set to it, and with the same GATEWAY_SECRET.`,
      `The database in ${dataDirectory} is marked as moved and no longer used.`,
    ];
  } catch (error) {
    takeBack();
    throw error;
  } finally {
    await embedded.stop();
  }
}

/** Backs up and restores in one step, without a file. Artifacts stay in place. */
async function copy(fromUrl: string, options: RestoreOptions): Promise<RestoredBackup> {
  const stream = new PassThrough();
  const [written, restored] = await Promise.allSettled([
    writeBackup({ url: fromUrl, config: options.config, withArtifacts: false }, stream),
    restoreBackup(stream, options),
  ]);
  if (restored.status === 'fulfilled') return restored.value;
  // Each failure causes the other, so report the one that came first.
  const reason: unknown = restored.reason;
  const isEcho = reason instanceof BackupFileError && written.status === 'rejected';
  throw isEcho ? written.reason : reason;
}

/** Renames the file into place once it is complete and synced. */
async function writeWholeFile(
  file: string,
  write: (target: Writable) => Promise<WrittenBackup>,
): Promise<WrittenBackup> {
  const path = resolve(file);
  const draft = `${path}.unfinished-${randomBytes(4).toString('hex')}`;
  try {
    const target = createWriteStream(draft, { flags: 'wx', mode: 0o600 });
    // Otherwise a failure could remove the file before it exists.
    await once(target, 'open');
    const written = await write(target);
    await syncFile(draft);
    await rename(draft, path);
    await syncFolder(dirname(path));
    return written;
  } finally {
    await rm(draft, { force: true });
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
