import { countCodePoints } from '../../../canonical/prompt-size.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/**
 * Characters (code points) that a chat `message` or `delta` brings: text, reasoning, refusal, and
 * the names and arguments of tool calls. 0 also for one that only names the role.
 */
export function measureChatOutput(message: JsonObject): number {
  let characters = contentOf(message.content) + codePoints(message.refusal);
  // Servers that know both names send the same text under both.
  characters += codePoints(message.reasoning_content ?? message.reasoning);
  characters += measureCall(message.function_call);
  if (Array.isArray(message.tool_calls)) {
    for (const call of message.tool_calls) {
      if (isJsonObject(call)) characters += measureCall(call.function ?? call.custom);
    }
  }
  return characters;
}

/** Text, or the parts that some servers send in its place. */
function contentOf(content: unknown): number {
  if (!Array.isArray(content)) return codePoints(content);
  let characters = 0;
  for (const part of content) if (isJsonObject(part)) characters += codePoints(part.text);
  return characters;
}

function measureCall(definition: unknown): number {
  if (!isJsonObject(definition)) return 0;
  const { name, arguments: args, input } = definition;
  return codePoints(name) + codePoints(args) + codePoints(input);
}

function codePoints(value: unknown): number {
  return typeof value === 'string' ? countCodePoints(value) : 0;
}
