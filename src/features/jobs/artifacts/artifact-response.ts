import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { drained } from '../../../platform/http/drained.js';
import type { BodyShare } from '../../../platform/http/body-budget.js';
import { CallerGoneError, waitForTurn } from '../../../platform/http/read-body.js';
import type { ByteRange } from './artifact-store.js';

/** What files of these types are called; others by the second half of their type. */
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

/** Headers of each answer about an artifact, whether it carries bytes or not. */
export const ARTIFACT_HEADERS: Readonly<Record<string, string>> = {
  'accept-ranges': 'bytes',
  // Kept, and asked for again each time, so that nothing is shown after it has expired.
  'cache-control': 'private, no-cache',
  'content-security-policy': 'sandbox',
  'cross-origin-resource-policy': 'cross-origin',
  // The URL is as good as a key to the artifact.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

interface FileAnswer {
  /** Of the tenant, whose pieces take turns with large bodies. */
  readonly share: BodyShare;
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Runs when there is something to send, before it is; when it throws, nothing is sent. */
  onFirstBytes(): Promise<void>;
}

/**
 * Sends a file no faster than the caller reads, and in turns: hundreds of readers would leave the requests of others waiting. A failure before the first byte is thrown; one
 * after it cuts the connection. The file is closed however it ends, also when the caller leaves.
 */
export async function sendFile(
  response: ServerResponse,
  stream: Readable,
  answer: FileAnswer,
): Promise<void> {
  const close = (): void => void stream.destroy();
  response.once('close', close);
  // One that is destroyed between two reads has nobody else to tell.
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
 * What of a file a `Range` header asks for. A header that is malformed, in another unit or for
 * several ranges counts as none, which HTTP allows.
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

/** How an artifact is presented to a browser. */
interface ArtifactPresentation {
  readonly contentType: string;
  readonly contentDisposition: string;
}

/**
 * Pictures, sound and films are shown; anything else, and pictures that may hold a program, is
 * only ever saved. The type comes from a vendor, so it is not trusted further than that.
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
