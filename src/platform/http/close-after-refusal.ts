import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * So long a caller whose connection is being closed may go on sending, for its sake: a connection
 * that is cut while bytes arrive may lose the answer as well.
 */
const LINGER_MS = 1_000;

/** Connections that are being closed: what still comes over them is not looked at. */
const closing = new WeakSet<Socket>();

/**
 * Has the connection closed soon after the response that is about to be sent, however much the
 * caller has still to send and however slowly. Node itself would wait minutes for a body's end.
 */
export function closeAfterRefusal(
  request: Pick<IncomingMessage, 'socket' | 'complete'>,
  response: ServerResponse,
): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  const { socket } = request;
  // Over a whole request Node closes as it should.
  if (closing.has(socket)) return;
  closing.add(socket);
  if (request.complete) return;
  // What Node calls when the response has left. It would cut the connection at once.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

/** Whether a request came behind one that was refused with the end of their connection. */
export function isClosing(request: Pick<IncomingMessage, 'socket'>): boolean {
  return closing.has(request.socket);
}
