import { parseJsonBody, type JsonBody, type JsonObject } from '../common/http/json-body.js';
import { spliceMembers } from '../common/http/top-level-members.js';
import { isNativeSeal } from './message-seals.js';

/**
 * The body without the reasoning that no vendor of this dialect has sealed: such a vendor gets the
 * body as it is, and would refuse all of it for one seal of another maker. A message of nothing
 * else goes as well.
 */
export function withoutForeignReasoning(body: JsonBody): JsonBody {
  const messages = (body.value.messages as JsonObject[]).flatMap((message) => {
    if (!Array.isArray(message.content)) return [message];
    const content = (message.content as JsonObject[]).filter((block) => !isForeign(block));
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  const edits = new Map([['messages', JSON.stringify(messages)]]);
  return parseJsonBody(spliceMembers(body.bytes, body.members, edits));
}

function isForeign(block: JsonObject): boolean {
  if (block.type === 'thinking') return !isNativeSeal(block.signature as string);
  return block.type === 'redacted_thinking' && !isNativeSeal(block.data as string);
}
