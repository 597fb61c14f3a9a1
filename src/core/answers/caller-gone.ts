import type { ServerResponse } from 'node:http';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import { SERVICE_STOPS } from '../../platform/http/service-stop.js';

/**
 * A signal that fires when the caller's connection closes before the answer is finished, or the service
 * is about to close it.
 */
export function callerGoneSignal(response: ServerResponse): CancelSignal {
  return new CallerGone(response);
}

class CallerGone implements CancelSignal {
  aborted: boolean;
  private listeners: (() => void)[] = [];

  constructor(response: ServerResponse) {
    this.aborted = response.destroyed;
    response.once('close', () => {
      if (!response.writableFinished) this.abort();
    });
    response.once(SERVICE_STOPS, () => this.abort());
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.listeners.indexOf(listener);
    if (index !== -1) this.listeners.splice(index, 1);
  }

  private abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }
}
