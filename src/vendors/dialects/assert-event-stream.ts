import type { UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';

/** @throws UpstreamError `unreadable`, the connection closed, when an answer is no event stream */
export function assertEventStream(
  response: UpstreamResponse,
  mediaType = 'text/event-stream',
): void {
  const contentType = String(response.headers['content-type'] ?? '');
  if (contentType.toLowerCase().startsWith(mediaType)) return;
  response.cancel();
  throw new UpstreamError({
    failure: 'unreadable',
    message: `content-type ${contentType.slice(0, 80)} instead of a stream`,
  });
}
