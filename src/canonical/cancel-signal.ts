import type { IncomingHttpHeaders } from 'node:http';

/**
 * Fires when an answer is no longer needed. An `AbortSignal` satisfies it; the gateway creates its own
 * per request, because an `AbortController` with its listeners costs 20 µs.
 */
export interface CancelSignal {
  readonly aborted: boolean;
  /** Running work may finish, but no new work may start. */
  readonly isEnding?: boolean;
  /** Call when a request starts being sent to a vendor; the vendor may work on it from then on. */
  noteSent?(): void;
  /** Call with the head of a vendor's response, whatever its status. */
  noteHead?(headers: IncomingHttpHeaders): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Fires when the caller will not receive its answer, and says why. */
export interface CallerGoneSignal extends CancelSignal {
  /** True when the service is shutting down rather than the caller disconnecting. */
  readonly isServiceStop?: boolean;
  /** How long the answer has waited for its caller to read, in milliseconds; undefined when it never waits. */
  readonly readerLagMs?: number;
}

/** A cancel signal with its trigger. */
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

/** Waits `ms` milliseconds. @returns false, at once, when the signal fires first */
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
