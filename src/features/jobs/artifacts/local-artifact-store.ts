import { createHash, randomUUID } from 'node:crypto';
import {
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DAY_MS, HOUR_MS } from '../../../platform/time/dates.js';
import { SweepTimer } from '../../../platform/time/sweep-timer.js';
import {
  ArtifactIdError,
  ArtifactStore,
  ArtifactTooLargeError,
  isArtifactId,
  type ByteRange,
  type OpenedArtifact,
} from './artifact-store.js';
import { syncFolder } from '../../../platform/database/whole-file.js';
import { codeOf } from '../../../platform/errors/thrown.js';

const SWEEP_EVERY_MS = 6 * HOUR_MS;
/** A partial file untouched for this long belongs to a dead process. */
const ABANDONED_AFTER_MS = DAY_MS;

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * Stores artifacts in a folder. Files are written to a temporary name, synced and renamed, so
 * readers never see a partial file. The folder is created with the first artifact, so services
 * without jobs need no writable folder.
 */
@Injectable()
export class LocalArtifactStore
  extends ArtifactStore
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  private readonly logger = new Logger(LocalArtifactStore.name);
  private readonly drafts: string;
  private readonly timer = new SweepTimer(
    () => this.sweep(),
    (error) => this.reportFailure(error),
  );

  constructor(private readonly root: string) {
    super();
    this.drafts = join(root, 'drafts');
  }

  async put(
    id: string,
    _contentType: string,
    bytes: AsyncIterable<Buffer>,
    limitBytes: number,
  ): Promise<{ bytes: number }> {
    const path = this.pathOf(id);
    const draft = join(this.drafts, randomUUID());
    await this.prepare(path);
    try {
      const file = await open(draft, 'wx', PRIVATE_FILE);
      let size: number;
      try {
        size = await writeAll(file, bytes, limitBytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
      await syncFolder(dirname(path));
      return { bytes: size };
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async open(id: string, range?: ByteRange): Promise<OpenedArtifact | undefined> {
    const file = await openIfPresent(this.pathOf(id));
    if (!file) return undefined;
    try {
      const { size } = await file.stat();
      // The stream closes the file on end or destroy.
      return { bytes: size, stream: file.createReadStream({ ...range }) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
  }

  /** Uses an id stored in the folder, since machines may mount it at different paths. */
  async whereabouts(): Promise<string> {
    const path = join(this.root, 'name');
    try {
      await mkdir(this.root, { recursive: true, mode: PRIVATE_FOLDER });
      await writeFile(path, randomUUID(), { flag: 'wx', mode: PRIVATE_FILE });
    } catch {
      // It has its name, or is a place where nothing can be kept.
    }
    const name = await readFile(path, 'utf8').catch(() => '');
    return `the folder ${name === '' ? `${this.root} on ${hostname()}` : name.slice(0, 8)}`;
  }

  async presign(): Promise<undefined> {
    return undefined;
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.sweep().catch((error: Error) => this.reportFailure(error));
    this.timer.startLater(SWEEP_EVERY_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Removes partial files of killed processes. */
  async sweep(now = Date.now()): Promise<void> {
    for (const name of await readdir(this.drafts).catch(() => [])) {
      const path = join(this.drafts, name);
      // It may have been renamed in the meantime.
      const found = await stat(path).catch(() => undefined);
      if (found && now - found.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
    }
  }

  private reportFailure({ message }: Error): void {
    this.logger.warn(`abandoned artifacts not removed: ${message}`);
  }

  /** Spreads the files over 256 folders. Only validated ids may reach the path. */
  private pathOf(id: string): string {
    if (!isArtifactId(id)) throw new ArtifactIdError();
    const folder = createHash('sha256').update(id).digest('hex').slice(0, 2);
    return join(this.root, folder, id);
  }

  private async prepare(path: string): Promise<void> {
    try {
      for (const folder of [this.drafts, dirname(path)]) {
        await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
      }
    } catch (error) {
      throw new Error(
        `Cannot write artifacts to ${this.root} (${codeOf(error) ?? 'unknown error'}). Set GATEWAY_DATA_DIR to a writable ` +
          'folder, or set S3_BUCKET.',
        { cause: error },
      );
    }
  }
}

/** @throws ArtifactTooLargeError, and any error of the source */
async function writeAll(
  file: FileHandle,
  bytes: AsyncIterable<Buffer>,
  limitBytes: number,
): Promise<number> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > limitBytes) throw new ArtifactTooLargeError(limitBytes);
    await writeWhole(file, chunk);
  }
  return size;
}

/** A single write may be partial. */
async function writeWhole(file: FileHandle, chunk: Buffer): Promise<void> {
  let written = 0;
  while (written < chunk.length) {
    const { bytesWritten } = await file.write(chunk, written);
    written += bytesWritten;
  }
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
