import type { ServerResponse } from 'node:http';
import { Canceller, type CallerGoneSignal } from '../../canonical/cancel-signal.js';
import { SERVICE_STOPS } from '../../platform/http/server-drain.js';

/**
 * A signal that fires when the caller's connection closes before the answer is finished, or the service
 * is about to close it.
 */
export function callerGoneSignal(response: ServerResponse): CallerGoneSignal {
  return new CallerGone(response);
}

class CallerGone extends Canceller implements CallerGoneSignal {
  isServiceStop = false;

  constructor(response: ServerResponse) {
    super(response.destroyed);
    response.once('close', () => {
      if (!response.writableFinished) this.abort();
    });
    response.once(SERVICE_STOPS, () => {
      if (!this.aborted) this.isServiceStop = true;
      this.abort();
    });
  }
}
