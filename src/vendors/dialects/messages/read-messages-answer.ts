import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { MessagesEventDecoder, type MessagesDecoderOptions } from './decode-messages-event.js';
import { parseMessagesJson } from './classify-messages-error.js';
import { topLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { mapFinishReason } from '../map-finish-reason.js';
import { MessagesUsageReader, measureBlock } from './read-messages-usage.js';

/**
 * Checks that a message is a complete answer.
 *
 * @throws UpstreamError `unreadable` for an object without content, `cut` for one without a stop reason
 */
function assertWholeMessage(message: JsonObject): {
  stopReason: string;
  content: unknown[];
} {
  const { content, stop_reason: stopReason } = message;
  if (!Array.isArray(content)) {
    throw unreadable('an empty answer', 200);
  }
  if (typeof stopReason !== 'string' || stopReason === '') {
    throw new UpstreamError({
      failure: 'cut',
      status: 200,
      message: 'an answer without a stop reason',
    });
  }
  return { stopReason, content };
}

/**
 * Decodes a whole message into canonical events, by way of the equivalent stream.
 *
 * @throws UpstreamError `unreadable` for an invalid answer, such as `{}`, `cut` for an incomplete one
 */
export function decodeMessagesAnswer(
  bytes: Buffer,
  options: MessagesDecoderOptions,
): CanonicalEvent[] {
  const message = parseMessagesJson(bytes.toString('utf8'), 'an answer');
  const { content } = assertWholeMessage(message);
  const decoder = new MessagesEventDecoder(options);
  const events: CanonicalEvent[] = [];
  // The usage follows with the end, where it is complete.
  decoder.decode({ type: 'message_start', message: { id: message.id } }, events);
  for (const [index, block] of content.entries()) {
    decoder.decode({ type: 'content_block_start', index, content_block: block }, events);
    decoder.decode({ type: 'content_block_stop', index }, events);
  }
  const { stop_reason, stop_sequence, usage } = message;
  decoder.decode({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }, events);
  return events;
}

/**
 * Reads a whole message for a caller of the same dialect: its bytes with the model's name replaced, and
 * the data for the ledger.
 *
 * @throws UpstreamError `unreadable` for an invalid answer, such as `{}`, `cut` for an incomplete one
 */
export function relayMessagesAnswer(bytes: Buffer, alias: string): CanonicalEvent[] {
  const answer = parseMessagesJson(bytes.toString('utf8'), 'an answer');
  const { stopReason, content } = assertWholeMessage(answer);
  const reader = new MessagesUsageReader();
  reader.add(answer.usage, { isFinal: true });
  const usage = reader.read();
  const members = topLevelMembers(bytes);
  const edits = new Map([['model', JSON.stringify(alias)]]);
  return [
    { type: 'start', ...(typeof answer.id === 'string' && { id: answer.id }) },
    {
      type: 'relay',
      dialect: 'messages',
      bytes: spliceMembers(bytes, members, edits),
      hasContent: true,
      outputCharacters: content
        .filter(isJsonObject)
        .reduce((sum, block) => sum + measureBlock(block), 0),
      finishReason: mapFinishReason('messages', stopReason),
      ...(usage && { usage }),
    },
  ];
}
