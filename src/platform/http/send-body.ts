import type { ServerResponse } from 'node:http';
import { drained } from './drained.js';
import { CallerGoneError } from './read-body.js';

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

/** Generators of clients know of no type for lines of JSON. */
export const JSONL_CONTENT_TYPE = 'text/plain; charset=utf-8';

/**
 * Sends pieces of text as a file to save, as `sendTextStream` does.
 *
 * @param name with its extension, which gives the type: `logs.csv`, `audit-log.jsonl`
 */
export function sendTextFile(
  response: ServerResponse,
  name: `${string}.${'csv' | 'jsonl'}`,
  pieces: AsyncGenerator<string>,
): Promise<void> {
  const headers = {
    'Content-Type': name.endsWith('.csv') ? 'text/csv; charset=utf-8' : JSONL_CONTENT_TYPE,
    'Content-Disposition': `attachment; filename="${name}"`,
  };
  return sendTextStream(response, headers, pieces);
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
  try {
    await writePiece(response, first.value);
    for await (const piece of pieces) await writePiece(response, piece);
    response.end();
  } catch (error) {
    // Sources may end by failing when their caller leaves.
    const isCallerGone = response.destroyed || error instanceof CallerGoneError;
    response.destroy();
    if (!isCallerGone) throw error;
  } finally {
    await pieces.return(undefined);
  }
}

/** @throws CallerGoneError when the caller has left or does not read any more */
async function writePiece(response: ServerResponse, piece: string): Promise<void> {
  if (response.destroyed) throw new CallerGoneError();
  if (!response.write(piece)) await drained(response);
}
