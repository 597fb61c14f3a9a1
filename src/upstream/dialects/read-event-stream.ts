import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import type { UpstreamError } from '../upstream-error.js';
import { assertEventStream } from './assert-event-stream.js';

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
}

/**
 * The events of a streamed answer with status 200.
 *
 * @throws UpstreamError `unreadable` when it is no event stream, or whatever the reader finds
 */
export async function* readEventStream(
  response: UpstreamResponse,
  reader: EventStreamReader,
): AsyncGenerator<CanonicalEvent> {
  assertEventStream(response);
  for await (const chunk of response) {
    for (const event of reader.push(chunk)) yield event;
    if (reader.failure) throw reader.failure;
    if (reader.isDone) {
      response.drain();
      break;
    }
  }
  yield* reader.end();
}
