import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { assertWholeMessage } from './assert-whole-message.js';
import { MessagesEventDecoder, type MessagesDecoderOptions } from './decode-messages-event.js';
import { parseMessagesJson } from './parse-messages-json.js';

/**
 * Reads a whole message into canonical events, by way of the stream that it would have been.
 *
 * @throws UpstreamError `unreadable` for an answer that is none, such as `{}`, `cut` for one
 *   without its end
 */
export function decodeMessagesAnswer(
  bytes: Buffer,
  options: MessagesDecoderOptions,
): CanonicalEvent[] {
  const message = parseMessagesJson(bytes.toString('utf8'), 'an answer');
  const { content } = assertWholeMessage(message);
  const decoder = new MessagesEventDecoder(options);
  const events: CanonicalEvent[] = [];
  decoder.decode({ type: 'message_start', message }, events);
  for (const [index, block] of content.entries()) {
    decoder.decode({ type: 'content_block_start', index, content_block: block }, events);
    decoder.decode({ type: 'content_block_stop', index }, events);
  }
  const { stop_reason, stop_sequence, usage } = message;
  decoder.decode({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }, events);
  return events;
}
