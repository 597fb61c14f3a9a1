import type { MediaFile } from '../../media-work.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { unreadable } from '../../upstream-error.js';

/** What no vendor labels media as, though a proxy's page of regrets may well come so. */
const NO_MEDIA = /^(?:application\/(?:json|xml)|text\/)/i;
/** Nobody asked for it, and callers are not told of it. */
const COMPRESSED = /\b(?:gzip|deflate|br|zstd|compress)\b/i;

/**
 * Has an answer be what it was asked to be before its bytes are passed on.
 *
 * @param what that is, for the log
 * @throws UpstreamError `unreadable` for another one, which is closed
 */
export function assertMedia(response: UpstreamResponse, what: 'audio' | 'video'): void {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = response.headers;
  if (!NO_MEDIA.test(type) && !COMPRESSED.test(encoding)) return;
  response.cancel();
  throw unreadable(
    COMPRESSED.test(encoding) ? `compressed ${what}` : `an answer that is no ${what}`,
  );
}

/**
 * A download as it comes, up to a size. Leaving it closes the connection, also before the first read,
 * where a generator would never hear of it.
 */
export class BoundedBytes implements AsyncIterable<Buffer>, AsyncIterator<Buffer> {
  private readonly source: AsyncIterator<Buffer>;
  private length = 0;

  /** @param describe what becomes of an error of the source */
  constructor(
    source: AsyncIterable<Buffer>,
    private readonly maxBytes: number,
    private readonly describe: (error: unknown) => unknown = (error) => error,
  ) {
    this.source = source[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** @throws UpstreamError `unreadable` beyond the limit, and where nothing comes at all */
  async next(): Promise<IteratorResult<Buffer>> {
    const result = await this.read();
    if (result.done === true) {
      if (this.length === 0) throw unreadable('an empty file');
      return result;
    }
    this.length += result.value.length;
    if (this.length > this.maxBytes) {
      await this.return();
      throw unreadable(`a file of more than ${this.maxBytes} bytes`);
    }
    return result;
  }

  async return(): Promise<IteratorResult<Buffer>> {
    await this.source.return?.();
    return { done: true, value: undefined };
  }

  private async read(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.source.next();
    } catch (error) {
      throw this.describe(error);
    }
  }
}

export const MAX_IMAGE_BYTES = 50 * 1024 * 1024;
export const MAX_VIDEO_BYTES = 1024 * 1024 * 1024;

const SIGNATURES: readonly [contentType: string, offset: number, bytes: string][] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['image/avif', 4, 'ftypavif'],
  ['video/mp4', 4, 'ftyp'],
  ['video/webm', 0, '\x1a\x45\xdf\xa3'],
];

/** @throws UpstreamError `unreadable` for a file that nobody can name */
export function fileOfBytes(bytes: Buffer, contentType: string | undefined): MediaFile {
  const type = contentType ?? sniffContentType(bytes);
  if (type === undefined) throw unreadable('a file that is neither picture nor video');
  return { contentType: type, bytes: once(bytes) };
}

/** What a file's first bytes say that it is. */
export function sniffContentType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 16).toString('latin1');
  return SIGNATURES.find(([, offset, text]) => head.startsWith(text, offset))?.[0];
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
