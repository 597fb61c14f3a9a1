import type { CancelSignal } from '../../src/canonical/cancel-signal.js';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { CoarseTimer } from '../../src/platform/time/coarse-timer.js';
import { UpstreamResponse } from '../../src/vendors/transport/upstream-response.js';
import type { CallLimits } from '../../src/vendors/upstream.js';

export const LONG_LIMITS: CallLimits = { firstByteMs: 60_000, idleMs: 60_000, requestMs: 600_000 };

/** A vendor call whose connection the test drives instead of undici. */
export class FakeConnection implements Dispatcher.DispatchController {
  readonly aborter = new AbortController();
  readonly response: UpstreamResponse;
  /** Settles as the promise of `HttpTransport.call` would. */
  readonly head: Promise<UpstreamResponse>;
  paused = false;
  aborted = false;
  reason: Error | null = null;
  /** The actions on the connection, in order. */
  readonly actions: string[] = [];

  constructor(
    limits: CallLimits = LONG_LIMITS,
    { signal, timer = new CoarseTimer() }: { signal?: CancelSignal; timer?: CoarseTimer } = {},
  ) {
    let resolve: (response: UpstreamResponse) => void = () => undefined;
    let reject: (error: Error) => void = () => undefined;
    this.head = new Promise((onHead, onFailedHead) => {
      resolve = onHead;
      reject = onFailedHead;
    });
    // Tests that ignore the head must not fail because of it.
    this.head.catch(() => undefined);
    this.response = new UpstreamResponse(
      limits,
      signal ?? this.aborter.signal,
      timer,
      resolve,
      reject,
    );
  }

  abort(reason: Error): void {
    this.actions.push('abort');
    this.aborted = true;
    this.reason = reason;
    // Like undici: the handler is notified of every end, including its own.
    this.response.onResponseError(this, reason);
  }

  pause(): void {
    this.actions.push('pause');
    this.paused = true;
  }

  resume(): void {
    this.actions.push('resume');
    this.paused = false;
  }

  start(): this {
    this.response.onRequestStart(this);
    return this;
  }

  answer(status = 200, headers: IncomingHttpHeaders = {}): this {
    this.response.onResponseStart(this, status, headers);
    return this;
  }

  send(...chunks: (string | Buffer)[]): this {
    for (const chunk of chunks) this.response.onResponseData(this, Buffer.from(chunk));
    return this;
  }

  end(): this {
    this.response.onResponseEnd();
    return this;
  }

  fail(code: string): this {
    this.response.onResponseError(this, Object.assign(new Error('it broke'), { code }));
    return this;
  }
}

/** Returns all chunks as text. */
export async function readText(response: UpstreamResponse): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
