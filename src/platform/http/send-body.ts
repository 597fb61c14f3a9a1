import type { ServerResponse } from 'node:http';
import { drained } from './drained.js';
import { CallerGoneError } from './read-body.js';

/** Sends a JSON answer in one write, bypassing Express's slower `json()`. */
export function sendJson(response: ServerResponse, status: number, body: Buffer | object): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  sendBytes(response, status, bytes, 'application/json; charset=utf-8');
}

/** Sends an answer of another content type. */
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

/** Client generators know no content type for JSON lines. */
export const JSONL_CONTENT_TYPE = 'text/plain; charset=utf-8';

/**
 * Streams text as a file download; see `sendTextStream`.
 *
 * @param name with its extension, which determines the type: `logs.csv`, `audit-log.jsonl`
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
 * Streams text at the caller's pace. Throws a failure before the first piece; a later one cuts the connection, as the
 * answer cannot be taken back. When the caller disconnects, it ends the source and throws nothing.
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
    // Sources may end with an error when their caller disconnects.
    const isCallerGone = response.destroyed || error instanceof CallerGoneError;
    response.destroy();
    if (!isCallerGone) throw error;
  } finally {
    await pieces.return(undefined);
  }
}

/** @throws CallerGoneError when the caller has left or stopped reading */
async function writePiece(response: ServerResponse, piece: string): Promise<void> {
  if (response.destroyed) throw new CallerGoneError();
  if (!response.write(piece)) await drained(response);
}
