import type { Readable } from 'node:stream';

/** A byte range with inclusive bounds. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A stored file open for reading. The caller must read or destroy its stream. */
export interface OpenedArtifact {
  /** Size of the whole file, even when only a range is read. */
  readonly bytes: number;
  readonly stream: Readable;
}

export interface PresignOptions {
  readonly contentType: string;
  readonly contentDisposition: string;
  readonly lifetimeSeconds: number;
}

/** Thrown when a file exceeds its size limit. The partial file is removed. */
export class ArtifactTooLargeError extends Error {
  constructor(limitBytes: number) {
    super(`The artifact is larger than ${limitBytes} bytes.`);
    this.name = 'ArtifactTooLargeError';
  }
}

/** Thrown for an id that `isArtifactId` rejects. */
export class ArtifactIdError extends Error {
  constructor() {
    super('An artifact id must be 1 to 128 letters, digits, "-" or "_".');
    this.name = 'ArtifactIdError';
  }
}

/** Returns whether a text is a valid artifact id: 1 to 128 letters, digits, `-` and `_`. */
export function isArtifactId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}

/**
 * Stores files that jobs produced, by id. Owner, type and expiry belong to the job (see
 * `JobArtifacts`).
 */
export abstract class ArtifactStore {
  /**
   * Stores a file atomically and replaces one with the same id. Uses bounded memory. Destroys the
   * source when storing fails.
   * @throws ArtifactTooLargeError
   * @throws ArtifactIdError
   * @throws Error describing the store's problem, or the source's own error
   */
  abstract put(
    id: string,
    contentType: string,
    bytes: AsyncIterable<Buffer>,
    limitBytes: number,
  ): Promise<{ bytes: number }>;

  /** Returns undefined when the file does not exist. The range must lie within the file. */
  abstract open(id: string, range?: ByteRange): Promise<OpenedArtifact | undefined>;

  /** Removes a file. Does nothing when it does not exist. */
  abstract remove(id: string): Promise<void>;

  /** Identifies the storage location. Instances that share the files return the same text. */
  abstract whereabouts(): Promise<string>;

  /** Returns a public URL of the file, or undefined when the gateway has to serve it. */
  abstract presign(id: string, options: PresignOptions): Promise<string | undefined>;
}
