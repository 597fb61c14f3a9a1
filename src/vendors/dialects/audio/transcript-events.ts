import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { Transcript } from '../../../canonical/work-request.js';
import { SseFrameBuffer } from '../../../platform/http/sse-frame-buffer.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import { parseAnswerObject } from '../answer-json.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { cutFrames, eventData, normalizeFrames } from '../event-text.js';
import { assertEventStream } from '../read-event-stream.js';
import { readTranscriptUsage } from './transcript.js';

/** The last event repeats the whole text. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** An hour of speech is one or two MB. A stream with more will not recover. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const DONE = 'transcript.text.done';

/**
 * Yields the events of a streamed transcript, as formatted by the vendor.
 *
 * @throws UpstreamError for an error among them, `unreadable` for an invalid or endless stream, and `cut` for
 *   an incomplete one
 */
export async function* readTranscriptEvents(
  response: UpstreamResponse,
): AsyncGenerator<WorkEvent<Transcript>> {
  assertEventStream(response);
  const frames = new SseFrameBuffer(MAX_EVENT_BYTES);
  let streamBytes = 0;
  for await (const chunk of response) {
    streamBytes += chunk.length;
    if (streamBytes > MAX_STREAM_BYTES) {
      throw unreadable(`a transcript of more than ${MAX_STREAM_BYTES} bytes`);
    }
    const whole = cutFrames(frames, chunk);
    if (!whole) continue;
    for (const frame of normalizeFrames(whole.toString('utf8')).split('\n\n')) {
      const data = eventData(frame);
      if (data === '' || data === '[DONE]') continue;
      const event = parseAnswerObject(data, 'an event of a transcript');
      if (event.error != null) throw classifyChatError(200, {}, event);
      const isLast = event.type === DONE;
      const usage = isLast ? readTranscriptUsage(event) : undefined;
      if (usage) yield { type: 'usage', usage };
      const bytes = Buffer.from(`data: ${data}\n\n`);
      yield { type: 'output', output: { contentType: 'text/event-stream', bytes, isLast } };
      if (isLast) {
        response.drain();
        return;
      }
    }
  }
  throw new UpstreamError({ failure: 'cut', status: 200, message: 'a transcript without its end' });
}
