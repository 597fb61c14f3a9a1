import type { Server, ServerResponse } from 'node:http';
import { CallerGoneError } from './read-body.js';

/** A reader who takes nothing for so long is cut off, within a check more. */
const WRITE_TIMEOUT_MS = 60_000;
const CHECKS = 3;

/** Milliseconds, of responses that had to wait at all. */
const waitedMs = new WeakMap<ServerResponse, number>();

/** How long a response has waited for its reader so far, in milliseconds. */
export function waitedForReaderMs(response: ServerResponse): number {
  return waitedMs.get(response) ?? 0;
}

/**
 * Waits until a response takes more, from a reader who may be slow but must not stop.
 *
 * @throws CallerGoneError when the reader has left or does not read any more
 */
export function drained(response: ServerResponse, timeoutMs = WRITE_TIMEOUT_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const unwatch = cutWhenStalled(response, timeoutMs);
    const startedMs = performance.now();
    const finish = (): void => {
      unwatch();
      waitedMs.set(response, waitedForReaderMs(response) + performance.now() - startedMs);
      response.off('drain', onDrain).off('close', onClose);
    };
    const onDrain = (): void => {
      finish();
      resolve();
    };
    const onClose = (): void => {
      finish();
      reject(new CallerGoneError());
    };
    response.on('drain', onDrain).on('close', onClose);
  });
}

/**
 * Cuts readers off who stop reading once their response has been written to its end, when nobody
 * waits for them any more.
 */
export function cutStalledEnds(server: Server, timeoutMs = WRITE_TIMEOUT_MS): void {
  // Before whoever answers, who may do so at once.
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.once('prefinish', () => {
      // Most are with the kernel by now.
      if (response.writableLength > 0) response.once('finish', cutWhenStalled(response, timeoutMs));
    });
  });
}

/**
 * Watches a reader by the idle time-out of Node's sockets, which does not speak up while bytes
 * leave: one piece may be large, and its reader slow. What left before the first look counts as well,
 * so it takes several looks to know.
 *
 * @returns what ends the watch
 */
function cutWhenStalled(response: ServerResponse, timeoutMs: number): () => void {
  const { socket } = response;
  if (!socket) return () => undefined;
  const checkMs = timeoutMs / CHECKS;
  let stalledChecks = 0;
  let lastStalledMs = 0;
  const onTimeout = (): void => {
    const nowMs = performance.now();
    // A check in between that said nothing has seen bytes leave.
    stalledChecks = nowMs - lastStalledMs < 1.5 * checkMs ? stalledChecks + 1 : 1;
    lastStalledMs = nowMs;
    if (stalledChecks >= CHECKS) response.destroy();
    else socket.setTimeout(checkMs);
  };
  response.on('timeout', onTimeout);
  socket.setTimeout(checkMs);
  return () => {
    response.off('timeout', onTimeout);
    // Where the response has left, Node has set another for the connection, unless the next request is there already:
    // that may take its time.
    if (socket.timeout === checkMs) socket.setTimeout(0);
  };
}
