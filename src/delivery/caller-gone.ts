import type { ServerResponse } from 'node:http';

/** A signal that fires when the caller's connection closes before the answer is finished. */
export function callerGoneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}
