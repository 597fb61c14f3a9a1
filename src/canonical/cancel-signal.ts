import type { IncomingHttpHeaders } from 'node:http';

/**
 * Says when nobody waits for an answer any more. An `AbortSignal` is one; the gateway makes its own
 * for each request, because an `AbortController` and its listeners cost 20 µs there.
 */
export interface CancelSignal {
  readonly aborted: boolean;
  /** What runs may go on for a moment, but nothing begins any more. */
  readonly isEnding?: boolean;
  /** To be called when a request begins to leave for a vendor, who may work on it from then on. */
  noteSent?(): void;
  /** To be called with the head of a vendor's response, whatever its status. */
  noteHead?(headers: IncomingHttpHeaders): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Says that a caller will not get its answer, and whose doing that is. */
export interface CallerGoneSignal extends CancelSignal {
  /** The service stops, and cuts a caller who may well be there. */
  readonly isServiceStop?: boolean;
  /** How long the answer has waited for its caller to read on, in milliseconds; undefined: it never does. */
  readonly readerLagMs?: number;
}

/** A signal that whoever holds it can give. */
export class Canceller implements CancelSignal {
  isEnding = false;
  private listeners: (() => void)[] = [];

  constructor(public aborted = false) {}

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.listeners.indexOf(listener);
    if (index !== -1) this.listeners.splice(index, 1);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }
}

/** Waits for so many milliseconds. @returns false, at once, when the signal fires before their end */
export function waitUnless(signal: CancelSignal, ms: number): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = (inFull: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(inFull);
    };
    const onAbort = (): void => finish(false);
    const timer = setTimeout(finish, ms, true);
    signal.addEventListener('abort', onAbort);
  });
}
