import type { Server, ServerResponse } from 'node:http';
import { CallerGoneError } from './read-body.js';

/** A reader who takes nothing for so long is cut off. */
const WRITE_TIMEOUT_MS = 60_000;

/**
 * Waits until a response takes more. Node's own idle time-out watches the reader meanwhile: it goes
 * on while bytes leave, so that one who is slow is not taken for one who has stopped.
 *
 * @throws CallerGoneError when the reader has left or does not read any more
 */
export function drained(response: ServerResponse, timeoutMs = WRITE_TIMEOUT_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const { socket } = response;
    const finish = (): void => {
      socket?.setTimeout(0);
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
    // The server destroys the connection when its time is up.
    socket?.setTimeout(timeoutMs);
    response.on('drain', onDrain).on('close', onClose);
  });
}

/**
 * Cuts readers off who stop reading once their response has been written to its end, when nobody
 * waits for them any more. Node's own idle time-out: it goes on while bytes leave.
 */
export function cutStalledEnds(server: Server, timeoutMs = WRITE_TIMEOUT_MS): void {
  // Before whoever answers, who may do so at once.
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.once('prefinish', () => {
      // Most are with the kernel by now. Node sets another time-out when the response has left.
      if (response.writableLength > 0) response.socket?.setTimeout(timeoutMs);
    });
  });
}
