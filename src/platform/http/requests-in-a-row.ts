import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RateLimitError } from '../errors/gateway-errors.js';

/**
 * So many requests may come over one connection in one turn of the event loop, and wait for the answer to the first of them.
 * Node takes whatever one piece of bytes holds of them, which is six hundred, and of whole pieces as many as come.
 */
const MAX_IN_A_ROW = 16;
export const TOO_MANY = new RateLimitError(
  'connection',
  `More than ${MAX_IN_A_ROW} requests came over one connection at once. Wait for answers, or use more connections.`,
  1,
  'max_in_a_row_per_connection',
);
/** Those of this turn. */
const arrived = new Map<Socket, number>();
const waiting = new WeakMap<Socket, number>();

/** Whether it is to end its connection. To be asked once for each request, as it comes. */
export function isOneTooMany({ socket }: IncomingMessage, response: ServerResponse): boolean {
  const count = arrived.get(socket) ?? 0;
  if (arrived.size === 0) setImmediate(() => arrived.clear());
  arrived.set(socket, count + 1);
  if (count >= MAX_IN_A_ROW) return true;
  return response.socket === null && (waiting.get(socket) ?? 0) >= MAX_IN_A_ROW;
}

/**
 * Of a response that waits until those before it have left over the same connection, Node does not
 * say that the connection has ended: nobody would give back what the request has taken.
 */
export function endWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  const onClose = (): void => {
    if (response.socket !== null || response.writableFinished) return;
    response.destroy();
    response.emit('close');
  };
  // One for each that waits.
  socket.setMaxListeners(0);
  socket.once('close', onClose);
  waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
  response.once('close', () => {
    socket.off('close', onClose);
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
  });
}
