import http, { type IncomingMessage, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';

export interface InnerRequest {
  method: 'POST';
  path: string;
  headers: OutgoingHttpHeaders;
  body: Buffer;
  /** The caller's connection. */
  socket: Pick<Socket, 'remoteAddress'>;
}

/**
 * Sends a request to this server over an in-memory stream, through every guard and limit.
 *
 * @param onResponse receives the response once its head is there
 * @param onError called when there is none, or the stream fails
 */
export function sendInnerRequest(
  server: Server,
  { method, path, headers, body, socket }: InnerRequest,
  onResponse: (response: IncomingMessage) => void,
  onError: (error: Error) => void,
): { destroy(): void } {
  const [near, far] = duplexPair();
  server.emit('connection', asSocket(far, socket));
  const request = http.request({
    method,
    path,
    headers: { ...headers, 'content-length': body.length, connection: 'close' },
    createConnection: () => asSocket(near, socket),
  });
  request.on('response', onResponse).on('error', onError);
  request.end(body);
  return {
    destroy(): void {
      request.destroy();
      near.destroy();
      far.destroy();
    },
  };
}

/** Adds what HTTP expects of a socket to a stream. Its reader handles slow readers. */
function asSocket(stream: Duplex, { remoteAddress }: Pick<Socket, 'remoteAddress'>): Duplex {
  const same = (): Duplex => stream;
  return Object.assign(stream, {
    remoteAddress,
    setTimeout: same,
    setNoDelay: same,
    setKeepAlive: same,
    ref: same,
    unref: same,
  });
}

/**
 * Handles a request whose upgrade is declined as an ordinary request over the same connection.
 *
 * @param head the bytes after the request's head
 */
export function declineUpgrade(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (UPGRADE_HEADERS.has(name.toLowerCase())) continue;
    lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  const again = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  server.emit('connection', socket);
  socket.unshift(Buffer.concat([again, head]));
}

const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);
