import { createHash, type Hash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { messageOf } from '../../platform/errors/thrown.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { checkTarHeaders, HostileTarError } from './tar-headers.js';

/** The last member: its `sha256` covers every member before it, by name, length and content. */
const END_MEMBER = 'end.json';
/** The database is at work beside it: three quarters of the best size for a third of the time. */
const COMPRESSION_LEVEL = 3;
/** The description of a backup with thousands of tables is below a megabyte. */
const MAX_SMALL_BYTES = 16 * 1024 * 1024;

/** A file is no backup, is cut short, or was altered; the message says which. */
export class BackupFileError extends Error {
  override readonly name = 'BackupFileError';
}

/** A part of a backup, to be read to its end before the next. */
export interface BackupMember {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly content: AsyncIterable<Buffer>;
}

/**
 * Writes a backup as a gzipped tar file, member after member, which `tar -tzf` can look into. Waits
 * for its reader, so that it never holds more than what is being added.
 */
export class BackupWriter {
  private readonly pack = pack();
  private readonly digest = createHash('sha256');
  private readonly written: Promise<void>;

  constructor(target: Writable) {
    this.written = pipeline(this.pack, createGzip({ level: COMPRESSION_LEVEL }), target);
    // Whoever adds or finishes is told.
    this.written.catch(() => undefined);
  }

  /** @throws what the target failed with */
  async add(name: string, content: Buffer): Promise<void> {
    this.digest.update(headOf(name, content.length)).update(content);
    await this.addEntry(name, content);
  }

  /** Adds a member too large for memory; `content` has to be as long as `size` says. */
  async addStream({ name, size, content }: BackupMember): Promise<void> {
    this.digest.update(headOf(name, size));
    await this.unlessBroken(
      new Promise<void>((resolve, reject) => {
        const entry = this.pack.entry({ name, size, mode: 0o600 }, endOf(resolve, reject));
        pipeline(digesting(content, this.digest), entry).catch(reject);
      }),
    );
  }

  /** Ends the file. Without this it can be told from a whole one. */
  async finish(): Promise<void> {
    const sha256 = this.digest.digest('hex');
    await this.addEntry(END_MEMBER, Buffer.from(JSON.stringify({ sha256 })));
    this.pack.finalize();
    await this.written;
  }

  /** Gives the file up: its target is closed as it is. */
  async abort(reason: Error): Promise<void> {
    this.pack.destroy(reason);
    await this.written.catch(() => undefined);
  }

  private addEntry(name: string, content: Buffer): Promise<void> {
    return this.unlessBroken(
      new Promise<void>((resolve, reject) => {
        const entry = this.pack.entry({ name, mode: 0o600 }, content, endOf(resolve, reject));
        entry.on('error', reject);
      }),
    );
  }

  /** A target that failed takes nothing more, and nobody would hear of it. */
  private async unlessBroken(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.written.then(() => work)]);
  }
}

/**
 * Reads a backup, whose checksum is known to be right when the last member has been read.
 *
 * @throws BackupFileError where it is cut short, altered, or no backup
 */
export async function* readBackup(source: Readable): AsyncGenerator<BackupMember> {
  const members = extract();
  const digest = createHash('sha256');
  const read = pipeline(source, createGunzip(), checkTarHeaders, members);
  read.catch(() => undefined);
  let sha256: string | undefined;
  try {
    for await (const entry of members) {
      const { name, size = 0, type } = entry.header;
      if (type !== 'file' || sha256 !== undefined) {
        throw new BackupFileError('The backup was altered: it has members that no backup has.');
      }
      if (name === END_MEMBER) {
        sha256 = digest.digest('hex');
        const end: unknown = JSON.parse((await contentOf(entry)).toString());
        if (!isJsonObject(end) || end.sha256 !== sha256) {
          throw new BackupFileError(
            'The backup was altered: its checksum is not that of its content.',
          );
        }
      } else {
        digest.update(headOf(name, size));
        yield { name, size, content: digesting(entry, digest) };
      }
    }
    await read;
  } catch (error) {
    throw explain(error);
  } finally {
    source.destroy();
  }
  if (sha256 === undefined)
    throw new BackupFileError('The backup is cut short: its end is missing.');
}

/**
 * Returns the whole of a small member.
 *
 * @throws BackupFileError for more than 16 MB
 */
export async function contentOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > MAX_SMALL_BYTES) {
      throw new BackupFileError('The backup was altered: its description is too long.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const headOf = (name: string, size: number): string => `${name}\n${size}\n`;

function endOf(resolve: () => void, reject: (error: Error) => void) {
  return (error?: Error | null): void => (error ? reject(error) : resolve());
}

async function* digesting(
  content: AsyncIterable<Uint8Array>,
  digest: Hash,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of content) {
      digest.update(chunk);
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  } catch (error) {
    throw explain(error);
  }
}

/** What zlib and tar say of a file, in words for whoever restores it. */
function explain(error: unknown): unknown {
  const message = messageOf(error);
  if (error instanceof HostileTarError) {
    return new BackupFileError(`The backup was altered: ${message}.`);
  }
  if (/unexpected end/i.test(message)) {
    return new BackupFileError('The backup is cut short: it ends before its end.');
  }
  if (/incorrect header check|invalid tar header/i.test(message)) {
    return new BackupFileError('The file is no backup of this service.');
  }
  if (/incorrect data check|invalid (distance|block|code|literal|stored|bit)|JSON/i.test(message)) {
    return new BackupFileError(`The backup was altered: ${message}.`);
  }
  return error;
}
