import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import { waitsForTurn } from '../../platform/http/read-body.js';
import { NOT_WATCHED, type CoarseTimer, type Watched } from '../../platform/time/coarse-timer.js';
import type { CallLimits } from '../upstream.js';
import { UpstreamError, type Acceptance, unreadable } from '../upstream-error.js';
import { transportError } from './transport-error.js';

/** Bytes buffered for a slow reader before the vendor's connection is paused. */
const HIGH_WATER_BYTES = 16 * 1024;

const DRAIN_MS = 1_000;

/** Share of a call's time: a vendor paused for longer is not to blame for a timeout or for hanging up. */
const LAGGING_SHARE = 0.5;
/** Servers wait at least this long for slow readers before they hang up. */
const LEAST_PATIENCE_MS = 5_000;

interface Waiting {
  resolve(result: IteratorResult<Buffer>): void;
  reject(error: Error): void;
}

/** The call was ended because its answer is no longer needed. */
export class CallAbortedError extends Error {
  constructor() {
    super('The call was aborted.');
    this.name = CallAbortedError.name;
  }
}

/**
 * A vendor's response: undici's handler on one side, an iterator over the body's chunks on the other.
 * Leaving the iteration, or the signal, closes the connection.
 */
export class UpstreamResponse
  implements Dispatcher.DispatchHandler, AsyncIterable<Buffer>, AsyncIterator<Buffer>, Watched
{
  status = 0;
  headers: IncomingHttpHeaders = {};
  deadlineMs: number;
  watchIndex = NOT_WATCHED;
  /** Called once, when the answer has ended or failed. */
  onOver: (() => void) | undefined = undefined;

  private readonly requestDeadlineMs: number;
  private controller: Dispatcher.DispatchController | undefined;
  private chunks: Buffer[] = [];
  private bufferedBytes = 0;
  private paused = false;
  private pausedSinceMs = 0;
  /** Total duration of finished pauses, in which the vendor waited for the reader. */
  private pausedMs = 0;
  private failure: Error | undefined;
  private ended = false;
  private draining = false;
  private waiting: Waiting | undefined;
  private readonly onAbort = (): void => this.fail(new CallAbortedError());

  constructor(
    private readonly limits: CallLimits,
    private readonly signal: CancelSignal,
    private readonly timer: CoarseTimer,
    private readonly onHead: (response: UpstreamResponse) => void,
    private readonly onFailedHead: (error: Error) => void,
  ) {
    const nowMs = performance.now();
    this.requestDeadlineMs = nowMs + limits.requestMs;
    this.deadlineMs = Math.min(nowMs + limits.firstByteMs, this.requestDeadlineMs);
    timer.watch(this);
    if (signal.aborted || signal.isEnding) this.fail(new CallAbortedError());
    else signal.addEventListener('abort', this.onAbort);
  }

  get isOver(): boolean {
    return this.ended || this.failure !== undefined;
  }

  // Called by undici

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) controller.abort(this.failure);
    else this.signal.noteSent?.();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    // undici would retain the raw headers until the end of the answer, two kilobytes and everything they reference.
    controller.rawHeaders = null;
    this.signal.noteHead?.(headers);
    this.progress();
    this.onHead(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.draining || this.isOver) return;
    this.progress();
    this.chunks.push(chunk);
    this.bufferedBytes += chunk.length;
    if (this.waiting) {
      // Collects the whole socket read first: the parser reports each piece separately.
      if (this.chunks.length === 1) queueMicrotask(this.deliver);
      return;
    }
    if (this.bufferedBytes >= HIGH_WATER_BYTES && !this.paused) {
      this.paused = true;
      this.pausedSinceMs = performance.now();
      // A slow reader is not a stalled vendor, so only the limit of the whole call applies.
      this.deadlineMs = this.requestDeadlineMs;
      controller.pause();
    }
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.ended = true;
    this.release();
    this.deliver();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (error instanceof UpstreamError) this.fail(error);
    else if (this.hasWornOut()) this.failForReader('cut by a vendor that waited for its reader');
    else this.fail(transportError(error, this.acceptance));
  }

  // Called by the timer

  onDeadline(): void {
    const nowMs = performance.now();
    const isRequestOver = nowMs >= this.requestDeadlineMs;
    if (isRequestOver && this.lagMs(nowMs) > this.limits.requestMs * LAGGING_SHARE) {
      this.failForReader(`not read within ${this.limits.requestMs} ms`);
      return;
    }
    const what = isRequestOver
      ? `answer not complete within ${this.limits.requestMs} ms`
      : this.status === 0
        ? `no response within ${this.limits.firstByteMs} ms`
        : `no data for ${this.limits.idleMs} ms`;
    const accepted = this.acceptance;
    this.fail(new UpstreamError({ failure: 'timeout', message: what, accepted, isRequestOver }));
  }

  // Called by the reader

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns everything received so far, in one piece. */
  next(): Promise<IteratorResult<Buffer>> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.deliver();
    });
  }

  return(): Promise<IteratorResult<Buffer>> {
    this.cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Closes the connection unless the answer is complete. */
  cancel(): void {
    if (!this.isOver && !this.draining) this.fail(new CallAbortedError());
  }

  /**
   * Drains a complete answer so that the connection can be reused; closes it after one second.
   */
  drain(): void {
    if (this.isOver) return;
    this.draining = true;
    this.chunks = [];
    this.bufferedBytes = 0;
    this.deadlineMs = performance.now() + DRAIN_MS;
    if (this.paused) this.controller?.resume();
  }

  /**
   * Reads the whole body. A large one waits for a fair-scheduling slot, because parsing follows and
   * several at once would block everyone else.
   *
   * @throws UpstreamError `unreadable` beyond `maxBytes`
   */
  async readAll(maxBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let length = 0;
    for (;;) {
      const next = await this.next();
      if (next.done) break;
      const chunk = next.value;
      length += chunk.length;
      if (length > maxBytes) {
        this.cancel();
        throw unreadable(`an answer of more than ${maxBytes} bytes`, this.status);
      }
      parts.push(chunk);
    }
    await new Promise<void>((resolve) => {
      if (!waitsForTurn(length, undefined, resolve)) resolve();
    });
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, length);
  }

  /** undici provides the controller when it begins to send. */
  private get acceptance(): Acceptance {
    return this.controller ? 'unknown' : 'no';
  }

  /** How long the vendor has waited for the reader, in milliseconds. */
  private lagMs(nowMs: number): number {
    return this.pausedMs + (this.paused ? nowMs - this.pausedSinceMs : 0);
  }

  /** True when the vendor waited for the reader long enough to explain why it hung up. */
  private hasWornOut(): boolean {
    const nowMs = performance.now();
    const calledMs = nowMs - (this.requestDeadlineMs - this.limits.requestMs);
    return this.lagMs(nowMs) > Math.max(LEAST_PATIENCE_MS, calledMs * LAGGING_SHARE);
  }

  private failForReader(what: string): void {
    this.fail(new UpstreamError({ failure: 'slow_reader', message: `an answer ${what}` }));
  }

  private progress(): void {
    if (this.paused) return;
    this.deadlineMs = Math.min(performance.now() + this.limits.idleMs, this.requestDeadlineMs);
  }

  private fail(error: Error): void {
    if (this.isOver) return;
    this.failure = error;
    this.release();
    this.controller?.abort(error);
    if (this.status === 0) this.onFailedHead(error);
    this.deliver();
  }

  /** Delivers the received data to a waiting reader, then the end or the failure. */
  private readonly deliver = (): void => {
    const { waiting } = this;
    if (!waiting) return;
    if (this.chunks.length === 0 && !this.isOver) return;
    this.waiting = undefined;
    if (this.chunks.length > 0) waiting.resolve({ done: false, value: this.takeChunks() });
    else if (this.failure) waiting.reject(this.failure);
    else waiting.resolve({ done: true, value: undefined });
  };

  private takeChunks(): Buffer {
    const taken =
      this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.bufferedBytes);
    this.chunks = [];
    this.bufferedBytes = 0;
    if (this.paused) {
      this.paused = false;
      this.pausedMs += performance.now() - this.pausedSinceMs;
      this.progress();
      this.controller?.resume();
    }
    return taken;
  }

  private release(): void {
    this.timer.unwatch(this);
    this.signal.removeEventListener('abort', this.onAbort);
    this.onOver?.();
  }
}
