import type { Server, ServerResponse } from 'node:http';
import { CallerGoneError } from './read-body.js';

/** A reader that takes nothing for this long is disconnected, within one more check. */
const WRITE_TIMEOUT_MS = 60_000;
const CHECKS = 3;

/** Milliseconds, for responses that had to wait. */
const waitedMs = new WeakMap<ServerResponse, number>();

/** Returns how long a response has waited for its reader, in milliseconds. */
export function waitedForReaderMs(response: ServerResponse): number {
  return waitedMs.get(response) ?? 0;
}

/**
 * Waits until a response accepts more. Readers may be slow but must not stop.
 *
 * @throws CallerGoneError when the reader has left or stopped reading
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

/** Disconnects readers that stop reading a fully written response. */
export function cutStalledEnds(server: Server, timeoutMs = WRITE_TIMEOUT_MS): void {
  // Runs before handlers, which may answer at once.
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.once('prefinish', () => {
      // Most responses are in the kernel by now.
      if (response.writableLength > 0) response.once('finish', cutWhenStalled(response, timeoutMs));
    });
  });
}

/**
 * Watches a reader with the socket's idle timeout, which stays silent while bytes leave: a single piece may be large and
 * its reader slow. Bytes that left before the first check count as well, so several checks are needed.
 *
 * @returns ends the watch
 */
function cutWhenStalled(response: ServerResponse, timeoutMs: number): () => void {
  const { socket } = response;
  if (!socket) return () => undefined;
  const checkMs = timeoutMs / CHECKS;
  let stalledChecks = 0;
  let lastStalledMs = 0;
  const onTimeout = (): void => {
    const nowMs = performance.now();
    // A silent check in between means that bytes were sent.
    stalledChecks = nowMs - lastStalledMs < 1.5 * checkMs ? stalledChecks + 1 : 1;
    lastStalledMs = nowMs;
    if (stalledChecks >= CHECKS) response.destroy();
    else socket.setTimeout(checkMs);
  };
  response.on('timeout', onTimeout);
  socket.setTimeout(checkMs);
  return () => {
    response.off('timeout', onTimeout);
    // Node sets another timeout once the response has left, unless the next request has arrived, which may take
    // its time.
    if (socket.timeout === checkMs) socket.setTimeout(0);
  };
}
