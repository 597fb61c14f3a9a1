import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { parseAnswerJson } from './answer-json.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError, unreadable } from '../upstream-error.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

const MAX_ERROR_BYTES = 256 * 1024;
/** Twice the longest event: who sends more that stands for nothing, such as comments or signatures, will go on so. */
const MAX_VAIN_BYTES = 128 * 1024 * 1024;

/** How one stream is read: passed on to a caller of the same dialect, or translated. */
export interface EventStreamReader {
  /** What the next bytes bring. Sets `failure` rather than throw, so that nothing before it is lost. */
  push(chunk: Buffer): CanonicalEvent[];
  /** @throws UpstreamError when the answer is not complete, or the `failure` so far */
  end(): CanonicalEvent[];
  /** To be thrown after the events before it. */
  readonly failure: UpstreamError | undefined;
  /** True when nothing of interest follows; undefined where only the connection's end tells. */
  readonly isDone?: boolean;
  /** Whether all of the answer has come, with the reason why it ended, and no more than its count may follow. */
  readonly isWhole?: boolean;
}

/**
 * The events of a streamed answer with status 200. Leaving them early closes the connection.
 *
 * @param describe what to throw in place of a failure
 * @throws UpstreamError `unreadable` when it is no event stream; whatever the reader finds comes
 *   from the pull that reaches it
 */
export function readEventStream(
  response: UpstreamResponse,
  reader: EventStreamReader,
  describe: (failure: unknown) => unknown = (failure) => failure,
): AsyncIterableIterator<CanonicalEvent> {
  assertEventStream(response);
  return new EventStream(response, reader, describe);
}

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };
const NONE: readonly CanonicalEvent[] = [];

type Result = IteratorResult<CanonicalEvent>;

/** By hand, because a generator would cost each piece several turns of the microtask queue. */
class EventStream implements AsyncIterableIterator<CanonicalEvent> {
  private events: readonly CanonicalEvent[] = NONE;
  private nextEvent = 0;
  /** True when what is gathered are the last events. */
  private isEnding = false;
  private isOver = false;
  /** Bytes since the last event. */
  private vainBytes = 0;

  constructor(
    private readonly response: UpstreamResponse,
    private readonly reader: EventStreamReader,
    private readonly describe: (failure: unknown) => unknown,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.nextEvent < this.events.length) return Promise.resolve(this.take());
    if (this.isOver) return Promise.resolve(OVER);
    return this.proceed();
  }

  return(): Promise<Result> {
    this.leave();
    return Promise.resolve(OVER);
  }

  /** Once all events so far are out: what follows them. */
  private proceed(): Promise<Result> {
    const { reader } = this;
    if (reader.failure) return this.refuse(reader.failure);
    if (this.isEnding) {
      this.isOver = true;
      return Promise.resolve(OVER);
    }
    if (reader.isDone) {
      this.response.drain();
      return this.end();
    }
    return this.response.next().then(this.onBytes, this.onFailure);
  }

  private readonly onBytes = (result: IteratorResult<Buffer>): Result | Promise<Result> => {
    if (this.isOver) return OVER;
    if (result.done) return this.end();
    try {
      this.events = this.reader.push(result.value);
    } catch (error) {
      throw this.fail(error);
    }
    this.nextEvent = 0;
    this.vainBytes = this.events.length === 0 ? this.vainBytes + result.value.length : 0;
    const failure = failureOfVain(this.vainBytes);
    if (failure) return this.refuse(failure);
    return this.events.length === 0 ? this.proceed() : this.take();
  };

  /** The next of those that are gathered. They are let go of with the last one, as the next may be long in coming. */
  private take(): Result {
    const value = this.events[this.nextEvent++]!;
    if (this.nextEvent === this.events.length) {
      this.events = NONE;
      this.nextEvent = 0;
    }
    return { done: false, value };
  }

  /** What befalls the connection of an answer that is whole is no failure of it. */
  private readonly onFailure = (failure: unknown): Promise<Result> => {
    const isWhole = this.reader.isWhole === true && !this.isOver;
    return isWhole && failure instanceof UpstreamError ? this.end() : this.refuse(failure);
  };

  private end(): Promise<Result> {
    this.isEnding = true;
    try {
      this.events = this.reader.end();
    } catch (error) {
      return this.refuse(error);
    }
    this.nextEvent = 0;
    return this.next();
  }

  private async refuse(failure: unknown): Promise<never> {
    throw this.fail(failure);
  }

  private fail(failure: unknown): unknown {
    this.leave();
    return this.describe(failure);
  }

  private leave(): void {
    this.isOver = true;
    this.events = NONE;
    this.nextEvent = 0;
    this.response.cancel();
  }
}

/** What is wrong with a stream that has brought so many bytes since its last event; undefined: nothing. */
export function failureOfVain(bytes: number): UpstreamError | undefined {
  if (bytes <= MAX_VAIN_BYTES) return undefined;
  return unreadable(`${MAX_VAIN_BYTES} bytes without an event`);
}

/** @throws UpstreamError `unreadable`, the connection closed, when an answer is no event stream */
export function assertEventStream(
  response: UpstreamResponse,
  mediaType = 'text/event-stream',
): void {
  const contentType = String(response.headers['content-type'] ?? '');
  if (contentType.toLowerCase().startsWith(mediaType)) return;
  response.cancel();
  throw unreadable(`content-type ${contentType.slice(0, 80)} instead of a stream`);
}

/** Whether an answer of status 200 is one piece of JSON, where a stream was asked for. */
export function isUnstreamed({ headers }: Pick<UpstreamResponse, 'headers'>): boolean {
  return /^application\/json\b/i.test(headers['content-type'] ?? '');
}

/**
 * What such an answer says: some servers tell an error so, which may well be the caller's.
 *
 * @param classify reads the body of an error
 * @throws CallAbortedError when nobody waits for it any more
 * @throws UpstreamError when it breaks off, or is no JSON
 */
export async function readUnstreamed(
  response: UpstreamResponse,
  classify: (body: JsonObject) => UpstreamError,
): Promise<UpstreamError> {
  const text = (await response.readAll(MAX_ERROR_BYTES)).toString('utf8');
  const body = parseAnswerJson(text, 'JSON instead of a stream');
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isJsonObject(first) && first.error != null
    ? classify(first)
    : unreadable('JSON instead of a stream');
}
