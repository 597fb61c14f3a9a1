import type { ServerResponse } from 'node:http';
import { CallerGoneError } from './read-body.js';

/** A reader who takes nothing for so long is cut off. */
const WRITE_TIMEOUT_MS = 60_000;

/**
 * Waits until a response takes more.
 *
 * @throws CallerGoneError when the reader has left or does not read any more
 */
export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
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
    const timer = setTimeout(() => response.destroy(), WRITE_TIMEOUT_MS);
    timer.unref();
    response.on('drain', onDrain).on('close', onClose);
  });
}
