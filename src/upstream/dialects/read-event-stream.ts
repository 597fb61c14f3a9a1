import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';

/** How a stream of server-sent events is read: passed on to callers of the same dialect, or translated. */
export interface EventStreamReader {
  /** True when nothing of interest follows. */
  readonly isDone: boolean;
  /** What went wrong; to be thrown once the events before it are passed on. */
  readonly failure: UpstreamError | undefined;
  push(chunk: Buffer): CanonicalEvent[];
  /** The vendor's stream has ended. @throws UpstreamError when the answer has not */
  end(): CanonicalEvent[];
}

/** Reads a vendor's stream to its end. @throws UpstreamError `unreadable` for anything but a stream */
export async function* readEventStream(
  response: UpstreamResponse,
  reader: EventStreamReader,
): AsyncGenerator<CanonicalEvent> {
  const contentType = String(response.headers['content-type'] ?? '');
  if (!contentType.toLowerCase().startsWith('text/event-stream')) {
    response.cancel();
    throw new UpstreamError({
      failure: 'unreadable',
      message: `content-type ${contentType.slice(0, 80)} instead of a stream`,
    });
  }
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
