import http, { type IncomingMessage, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';

export interface InnerRequest {
  method: 'POST';
  path: string;
  headers: OutgoingHttpHeaders;
  body: Buffer;
  /** The connection of the caller for whom it is made. */
  socket: Pick<Socket, 'remoteAddress'>;
}

/**
 * Sends a request to our own server without a network: it goes over a pair of streams in memory and
 * passes everything that requests from outside pass, guards and limits included.
 *
 * @param onResponse is given the response when its head is there
 * @param onError is told when there is none, or the connection breaks
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

/** A stream with what HTTP takes for given of a socket. Whoever reads it looks after slow readers. */
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
 * Has a request handled that its caller wanted to upgrade and that is not going to be: as an ordinary
 * one, over the same connection.
 *
 * @param head what came after the request's own head
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
