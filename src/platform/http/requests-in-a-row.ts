import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RateLimitError } from '../errors/gateway-errors.js';

/**
 * Limit on pipelined requests, counted per turn of the event loop and among those waiting for the first answer. Node
 * accepts all requests of a TCP segment, up to six hundred, and any number of segments.
 */
const MAX_IN_A_ROW = 16;
export const TOO_MANY = new RateLimitError(
  'connection',
  `More than ${MAX_IN_A_ROW} requests came over one connection at once. Wait for answers, or use more connections.`,
  1,
  'max_in_a_row_per_connection',
);
/** Requests of this turn of the event loop. */
const arrived = new Map<Socket, number>();
const waiting = new WeakMap<Socket, number>();

/** Returns whether a request exceeds the limit and must end its connection. Call it once per request. */
export function isOneTooMany({ socket }: IncomingMessage, response: ServerResponse): boolean {
  const count = arrived.get(socket) ?? 0;
  if (arrived.size === 0) setImmediate(() => arrived.clear());
  arrived.set(socket, count + 1);
  if (count >= MAX_IN_A_ROW) return true;
  return response.socket === null && (waiting.get(socket) ?? 0) >= MAX_IN_A_ROW;
}

/**
 * Ends a response that waits behind others when their connection closes: Node does not report that, and whatever the
 * request holds would never be released.
 */
export function endWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  const onClose = (): void => {
    if (response.socket !== null || response.writableFinished) return;
    response.destroy();
    response.emit('close');
  };
  // One listener per waiting response.
  socket.setMaxListeners(0);
  socket.once('close', onClose);
  waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
  response.once('close', () => {
    socket.off('close', onClose);
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
  });
}
