import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { scanTopLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { mapFinishReason } from '../map-finish-reason.js';
import { assertWholeMessage } from './assert-whole-message.js';
import { measureBlock } from './measure-messages-block.js';
import { parseMessagesJson } from './parse-messages-json.js';
import { MessagesUsageReader } from './read-messages-usage.js';

/**
 * Reads a whole message for a caller of the same dialect: its bytes, with the model's name
 * exchanged, and what the ledger needs of it.
 *
 * @throws UpstreamError `unreadable` for an answer that is none, such as `{}`, `cut` for one
 *   without its end
 */
export function relayMessagesAnswer(bytes: Buffer, alias: string): CanonicalEvent[] {
  const answer = parseMessagesJson(bytes.toString('utf8'), 'an answer');
  const { stopReason, content } = assertWholeMessage(answer);
  const reader = new MessagesUsageReader();
  reader.add(answer.usage, { isFinal: true });
  const usage = reader.read();
  const { members } = scanTopLevelMembers(bytes);
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
