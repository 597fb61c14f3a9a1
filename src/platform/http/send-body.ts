import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../errors/thrown.js';

/** A caller who takes nothing for so long is cut off. */
const STALL_LIMIT_MS = 60_000;

/** Writes a whole JSON answer in one piece, past Express's slower `json()`. */
export function sendJson(response: ServerResponse, status: number, body: Buffer | object): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  sendBytes(response, status, bytes, 'application/json; charset=utf-8');
}

/** The same for any other type of content. */
export function sendBytes(
  response: ServerResponse,
  status: number,
  bytes: Buffer,
  contentType: string,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length });
  response.end(bytes);
}

/**
 * Sends pieces of text as they come, no faster than the caller takes them. A failure before the
 * first piece is thrown; one after it cuts the connection, as the answer can't be taken back. When
 * the caller leaves, the source is ended and nothing is thrown.
 */
export async function sendTextStream(
  response: ServerResponse,
  headers: Record<string, string>,
  pieces: AsyncGenerator<string>,
): Promise<void> {
  const first = await pieces.next();
  if (response.destroyed) {
    await pieces.return(undefined);
    return;
  }
  response.writeHead(200, headers);
  if (response.req.method === 'HEAD' || first.done) {
    await pieces.return(undefined);
    response.end();
    return;
  }
  response.setTimeout(STALL_LIMIT_MS, () => response.destroy());
  const { value } = first;
  async function* all(): AsyncGenerator<string> {
    yield value;
    yield* pieces;
  }
  try {
    await pipeline(Readable.from(all(), { objectMode: true, highWaterMark: 1 }), response);
  } catch (error) {
    if (!isCallerGone(error)) throw error;
  }
}

function isCallerGone(error: unknown): boolean {
  return codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE';
}
