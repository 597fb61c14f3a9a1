import type { ServerResponse } from 'node:http';

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
