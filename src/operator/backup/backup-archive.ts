import { createHash, type Hash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { messageOf } from '../../platform/errors/thrown.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { checkTarHeaders, HostileTarError } from './tar-headers.js';

/** The last member. Its `sha256` covers name, length and content of every earlier member. */
const END_MEMBER = 'end.json';
/**
 * A compromise for a busy database: three quarters of the best compression in a third of the time.
 */
const COMPRESSION_LEVEL = 3;
/** The description of a backup with thousands of tables is below a megabyte. */
const MAX_SMALL_BYTES = 16 * 1024 * 1024;

/** Thrown for a file that is not a backup, or is truncated or modified; the message says which. */
export class BackupFileError extends Error {
  override readonly name = 'BackupFileError';
}

/** A member of a backup. Must be read completely before the next. */
export interface BackupMember {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly content: AsyncIterable<Buffer>;
}

/**
 * Writes a backup as a gzipped tar file, so that `tar -tzf` can list it. Applies backpressure, so
 * that memory holds only the current member.
 */
export class BackupWriter {
  private readonly pack = pack();
  private readonly digest = createHash('sha256');
  private readonly written: Promise<void>;

  constructor(target: Writable) {
    this.written = pipeline(this.pack, createGzip({ level: COMPRESSION_LEVEL }), target);
    // Errors surface in `add` and `finish`.
    this.written.catch(() => undefined);
  }

  /** @throws the target's error */
  async add(name: string, content: Buffer): Promise<void> {
    this.digest.update(headOf(name, content.length)).update(content);
    await this.addEntry(name, content);
  }

  /** Adds a member too large for memory. The length of `content` must equal `size`. */
  async addStream({ name, size, content }: BackupMember): Promise<void> {
    this.digest.update(headOf(name, size));
    await this.unlessBroken(
      new Promise<void>((resolve, reject) => {
        const entry = this.pack.entry({ name, size, mode: 0o600 }, endOf(resolve, reject));
        pipeline(digesting(content, this.digest), entry).catch(reject);
      }),
    );
  }

  /** Writes the end member, which marks the file as complete. */
  async finish(): Promise<void> {
    const sha256 = this.digest.digest('hex');
    await this.addEntry(END_MEMBER, Buffer.from(JSON.stringify({ sha256 })));
    this.pack.finalize();
    await this.written;
  }

  /** Aborts the file and closes its target. */
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

  /** A failed target stops reading, so waiting for it would never end. */
  private async unlessBroken(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.written.then(() => work)]);
  }
}

/**
 * Reads a backup. Its checksum is verified once the last member has been read.
 * @throws BackupFileError for a truncated, modified or unknown file
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
        throw new BackupFileError('The backup was altered: it has unknown members.');
      }
      if (name === END_MEMBER) {
        sha256 = digest.digest('hex');
        const end: unknown = JSON.parse((await contentOf(entry)).toString());
        if (!isJsonObject(end) || end.sha256 !== sha256) {
          throw new BackupFileError(
            'The backup was altered: its checksum does not match its content.',
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
    throw new BackupFileError('The backup is truncated: its end is missing.');
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

/** Translates zlib and tar errors for operators. */
function explain(error: unknown): unknown {
  const message = messageOf(error);
  if (error instanceof HostileTarError) {
    return new BackupFileError(`The backup was altered: ${message}.`);
  }
  if (/unexpected end/i.test(message)) {
    return new BackupFileError('The backup is truncated.');
  }
  if (/incorrect header check|invalid tar header/i.test(message)) {
    return new BackupFileError('The file is not a backup of this service.');
  }
  if (/incorrect data check|invalid (distance|block|code|literal|stored|bit)|JSON/i.test(message)) {
    return new BackupFileError(`The backup was altered: ${message}.`);
  }
  return error;
}
