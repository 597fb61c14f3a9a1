import { isJsonObject, type JsonObject } from '../../../common/http/json-body.js';

/** Fields of a chat message or delta that hold what the model wrote. */
const TEXT_FIELDS = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const;

/**
 * Characters (code points) that a chat `message` or `delta` brings: text, reasoning, refusal, and
 * the names and arguments of tool calls. 0 also for one that only names the role.
 */
export function measureChatOutput(message: JsonObject): number {
  let characters = 0;
  for (const field of TEXT_FIELDS) characters += codePoints(message[field]);
  if (Array.isArray(message.tool_calls)) {
    for (const call of message.tool_calls) {
      const definition = isJsonObject(call) ? (call.function ?? call.custom) : undefined;
      if (!isJsonObject(definition)) continue;
      characters += codePoints(definition.name);
      characters += codePoints(definition.arguments) + codePoints(definition.input);
    }
  }
  return characters;
}

function codePoints(value: unknown): number {
  if (typeof value !== 'string') return 0;
  let count = value.length;
  for (let index = 0; index < value.length - 1; index++) {
    if ((value.charCodeAt(index) & 0xfc00) === 0xd800) {
      if ((value.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count--;
    }
  }
  return count;
}
