import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { drained } from '../../../platform/http/drained.js';
import type { BodyShare } from '../../../platform/http/body-budget.js';
import { CallerGoneError, waitForTurn } from '../../../platform/http/read-body.js';
import type { ByteRange } from './artifact-store.js';

/** File extensions of these types. Other types use their subtype. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/opus': 'opus',
  'audio/pcm': 'pcm',
  'audio/wav': 'wav',
  'audio/webm': 'weba',
  'audio/x-wav': 'wav',
  'image/jpeg': 'jpg',
  'video/quicktime': 'mov',
};

const OPAQUE = 'application/octet-stream';

/** Headers of every artifact response, with or without a body. */
export const ARTIFACT_HEADERS: Readonly<Record<string, string>> = {
  'accept-ranges': 'bytes',
  // Cached, but revalidated on every use, so that nothing is shown after it expires.
  'cache-control': 'private, no-cache',
  'content-security-policy': 'sandbox',
  'cross-origin-resource-policy': 'cross-origin',
  // The URL grants access to the artifact.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

interface FileAnswer {
  /** The tenant's share: chunks are scheduled fairly with large request bodies. */
  readonly share: BodyShare;
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Runs before the first byte is sent. Nothing is sent when it throws. */
  onFirstBytes(): Promise<void>;
}

/**
 * Streams a file at the caller's pace and under fair scheduling, so that hundreds of readers don't
 * starve other requests. Throws on a failure before the first byte; a later failure cuts the
 * connection. Always closes the file, also when the caller disconnects.
 */
export async function sendFile(
  response: ServerResponse,
  stream: Readable,
  answer: FileAnswer,
): Promise<void> {
  const close = (): void => void stream.destroy();
  response.once('close', close);
  // An error between two reads would otherwise be unhandled.
  stream.on('error', () => undefined);
  try {
    if (response.destroyed) return;
    const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
    let next = await chunks.next();
    if (response.destroyed) return;
    await answer.onFirstBytes();
    response.writeHead(answer.status, answer.headers);
    while (!next.done) {
      if (!response.write(next.value)) await drained(response);
      await new Promise<void>((resolve) => waitForTurn(answer.share, resolve));
      next = await chunks.next();
    }
    response.end();
  } catch (error) {
    if (error instanceof CallerGoneError || response.destroyed) return;
    throw error;
  } finally {
    response.off('close', close);
    stream.destroy();
  }
}

/**
 * Returns the byte range that a `Range` header requests. Ignores malformed headers, other units
 * and multiple ranges, as HTTP allows.
 */
export function parseRange(
  header: string | undefined,
  bytes: number,
): 'whole' | 'unsatisfiable' | ByteRange {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= bytes ? 'unsatisfiable' : { start, end };
}

/** Content type and disposition of an artifact in a browser. */
interface ArtifactPresentation {
  readonly contentType: string;
  readonly contentDisposition: string;
}

/**
 * Shows images, audio and video inline. Everything else, including images that can contain
 * scripts, is a download, because the type comes from a vendor and is not trusted.
 */
export function presentArtifact(artifactId: string, storedType: string): ArtifactPresentation {
  const type = storedType.split(';', 1)[0]!.trim().toLowerCase();
  const [, subtype] = /^(?:image|audio|video)\/([a-z0-9.-]+)$/.exec(type) ?? [];
  if (subtype === undefined) {
    return {
      contentType: OPAQUE,
      contentDisposition: `attachment; filename="${artifactId}.bin"`,
    };
  }
  const extension = EXTENSIONS[type] ?? subtype.replace(/^x-/, '');
  return {
    contentType: type,
    contentDisposition: `inline; filename="${artifactId}.${extension}"`,
  };
}
