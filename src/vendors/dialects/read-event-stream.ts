import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { parseAnswerJson } from './answer-json.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError, unreadable } from '../upstream-error.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

const MAX_ERROR_BYTES = 256 * 1024;
/** Twice the longest event: a stream that sends more without an event, such as comments, will not recover. */
const MAX_EVENTLESS_BYTES = 128 * 1024 * 1024;

/** Reads one stream, either to relay it to a caller of the same dialect or to translate it. */
export interface EventStreamReader {
  /** Returns the events of the next bytes. Sets `failure` instead of throwing, so that no event is lost. */
  push(chunk: Buffer): CanonicalEvent[];
  /** @throws UpstreamError when the answer is not complete, or the `failure` so far */
  end(): CanonicalEvent[];
  /** The error to throw after the events before it. */
  readonly failure: UpstreamError | undefined;
  /** True when nothing of interest follows; undefined when only the connection's end can say. */
  readonly isDone?: boolean;
  /** True when the answer and its finish reason have arrived; only the usage may follow. */
  readonly isWhole?: boolean;
}

/**
 * Reads the events of a streamed answer with status 200. Leaving the iteration closes the connection.
 *
 * @param describe maps a failure to the error to throw
 * @throws UpstreamError `unreadable` when it is not an event stream; other failures surface from the pull
 *   that reaches them
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

/** Written by hand: a generator would cost each piece several microtasks. */
class EventStream implements AsyncIterableIterator<CanonicalEvent> {
  private events: readonly CanonicalEvent[] = NONE;
  private nextEvent = 0;
  /** True when the gathered events are the last. */
  private isEnding = false;
  private isOver = false;
  /** Bytes since the last event. */
  private eventlessBytes = 0;

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

  /** Continues after all gathered events were consumed. */
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
    this.eventlessBytes = this.events.length === 0 ? this.eventlessBytes + result.value.length : 0;
    const failure = eventlessFailure(this.eventlessBytes);
    if (failure) return this.refuse(failure);
    return this.events.length === 0 ? this.proceed() : this.take();
  };

  /** Takes the next gathered event. Releases them after the last one, because the next may take long. */
  private take(): Result {
    const value = this.events[this.nextEvent++]!;
    if (this.nextEvent === this.events.length) {
      this.events = NONE;
      this.nextEvent = 0;
    }
    return { done: false, value };
  }

  /** Ignores connection failures after a whole answer. */
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

/** Returns the error for too many bytes since the last event; undefined: within the limit. */
export function eventlessFailure(bytes: number): UpstreamError | undefined {
  if (bytes <= MAX_EVENTLESS_BYTES) return undefined;
  return unreadable(`${MAX_EVENTLESS_BYTES} bytes without an event`);
}

/** Closes the connection of an answer that is not an event stream. @throws UpstreamError `unreadable` */
export function assertEventStream(
  response: UpstreamResponse,
  mediaType = 'text/event-stream',
): void {
  const contentType = String(response.headers['content-type'] ?? '');
  if (contentType.toLowerCase().startsWith(mediaType)) return;
  response.cancel();
  throw unreadable(`content-type ${contentType.slice(0, 80)} instead of a stream`);
}

/** Returns whether a streaming call was answered with a single JSON document. */
export function isUnstreamed({ headers }: Pick<UpstreamResponse, 'headers'>): boolean {
  return /^application\/json\b/i.test(headers['content-type'] ?? '');
}

/**
 * Reads such an answer. Some servers report errors this way, possibly the caller's.
 *
 * @param classify reads the body of an error
 * @throws CallAbortedError when the signal fires
 * @throws UpstreamError when it is interrupted or not JSON
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
