/**
 * Says when nobody waits for an answer any more. An `AbortSignal` is one; the gateway makes its own
 * for each request, because an `AbortController` and its listeners cost 20 µs there.
 */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
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
