import type { Readable } from 'node:stream';

/** A part of a file; both ends belong to it. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A stored file that is being read. Whoever opened it reads its stream or destroys it. */
export interface OpenedArtifact {
  /** Of the whole file, whatever part of it is read. */
  readonly bytes: number;
  readonly stream: Readable;
}

export interface PresignOptions {
  readonly contentType: string;
  readonly contentDisposition: string;
  readonly lifetimeSeconds: number;
}

/** What was to be stored is larger than it may be; nothing of it is kept. */
export class ArtifactTooLargeError extends Error {
  constructor(limitBytes: number) {
    super(`The artifact is larger than ${limitBytes} bytes.`);
    this.name = 'ArtifactTooLargeError';
  }
}

/** An artifact's id is not one that `isArtifactId` takes. */
export class ArtifactIdError extends Error {
  constructor() {
    super('An artifact id is 1 to 128 letters, digits, "-" and "_".');
    this.name = 'ArtifactIdError';
  }
}

/** Whether a text can name an artifact: 1 to 128 letters, digits, `-` and `_`. */
export function isArtifactId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}

/**
 * Keeps what jobs have made. It knows bytes by their id and nothing else: whose they are, what type
 * they have and until when they may be read stands with the job (see `JobArtifacts`).
 */
export abstract class ArtifactStore {
  /**
   * Takes a file in, whole or not at all; one that was stored under the same id is replaced. Memory
   * is bounded, whatever the size. The source is ended when storing fails.
   *
   * @throws ArtifactTooLargeError
   * @throws ArtifactIdError
   * @throws Error that names what is wrong with the store, or what the source threw
   */
  abstract put(
    id: string,
    contentType: string,
    bytes: AsyncIterable<Buffer>,
    limitBytes: number,
  ): Promise<{ bytes: number }>;

  /** Undefined when there is no such file. The range has to lie within the file. */
  abstract open(id: string, range?: ByteRange): Promise<OpenedArtifact | undefined>;

  /** Does nothing when there is no such file. */
  abstract remove(id: string): Promise<void>;

  /** Names the place where the files are: the same text wherever the same files can be opened. */
  abstract whereabouts(): Promise<string>;

  /** A URL from which anyone may read the file directly; undefined: only through the gateway. */
  abstract presign(id: string, options: PresignOptions): Promise<string | undefined>;
}
