import { parseJsonBody, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { spliceMembers } from '../../platform/http/top-level-members.js';

/**
 * The body without reasoning that nobody has sealed, which some vendors of other dialects give: a
 * vendor of this dialect gets the body as it is, and would refuse all of it for one empty seal. A
 * message of nothing else goes as well. Seals of other makers are for the vendor's adapter to sort
 * out, which knows its own.
 */
export function withoutUnsealedReasoning(body: JsonBody): JsonBody {
  const messages = (body.value.messages as JsonObject[]).flatMap((message) => {
    if (!Array.isArray(message.content)) return [message];
    const content = (message.content as JsonObject[]).filter((block) => !isUnsealed(block));
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  const edits = new Map([['messages', JSON.stringify(messages)]]);
  return parseJsonBody(spliceMembers(body.bytes, body.members, edits));
}

function isUnsealed({ type, signature, data }: JsonObject): boolean {
  return (type === 'thinking' && signature === '') || (type === 'redacted_thinking' && data === '');
}
