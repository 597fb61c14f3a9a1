import type { MediaFile } from '../../media-work.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { unreadable } from '../../upstream-error.js';

/** Types that no vendor uses for media, but a proxy's error page may. */
const NO_MEDIA = /^(?:application\/(?:json|xml)|text\/)/i;
/** Encodings that callers do not expect; none is ever requested. */
const COMPRESSED = /\b(?:gzip|deflate|br|zstd|compress)\b/i;

/**
 * Checks that an answer has the requested type before its bytes are passed on.
 *
 * @param what expected type, for the error
 * @throws UpstreamError `unreadable` for another one, whose connection is closed
 */
export function assertMedia(response: UpstreamResponse, what: 'audio' | 'video'): void {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = response.headers;
  if (!NO_MEDIA.test(type) && !COMPRESSED.test(encoding)) return;
  response.cancel();
  throw unreadable(COMPRESSED.test(encoding) ? `compressed ${what}` : `an answer without ${what}`);
}

/**
 * A download, streamed up to a size limit. Leaving it closes the connection even before the first read,
 * which a generator would not notice.
 */
export class BoundedBytes implements AsyncIterable<Buffer>, AsyncIterator<Buffer> {
  private readonly source: AsyncIterator<Buffer>;
  private length = 0;

  /** @param describe maps an error of the source */
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

  /** @throws UpstreamError `unreadable` beyond the limit and for an empty file */
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

/** Creates a file. @throws UpstreamError `unreadable` when its type is unknown */
export function fileOfBytes(bytes: Buffer, contentType: string | undefined): MediaFile {
  const type = contentType ?? sniffContentType(bytes);
  if (type === undefined) throw unreadable('a file that is neither image nor video');
  return { contentType: type, bytes: once(bytes) };
}

/** Detects a file's type by its first bytes. */
export function sniffContentType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 16).toString('latin1');
  return SIGNATURES.find(([, offset, text]) => head.startsWith(text, offset))?.[0];
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
