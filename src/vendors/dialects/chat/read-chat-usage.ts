import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { readTokenCount } from '../answer-json.js';
import { countCodePoints } from '../../../canonical/prompt-size.js';

/**
 * Reads the `usage` object of an OpenAI-style chat answer. A count that is left out or makes no
 * sense is 0: the ledger estimates it, and believes the other one.
 *
 * @returns undefined when it is missing or counts nothing at all, which some servers send instead
 *   of leaving it out
 */
export function readChatUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = readTokenCount(value.prompt_tokens) ?? 0;
  const outputTokens = readTokenCount(value.completion_tokens) ?? 0;
  if (inputTokens + outputTokens === 0) return undefined;
  const input = isJsonObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const output = isJsonObject(value.completion_tokens_details)
    ? value.completion_tokens_details
    : {};
  const cacheReadTokens = Math.min(readTokenCount(input.cached_tokens) ?? 0, inputTokens);
  return {
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens: Math.min(
      readTokenCount(input.cache_write_tokens) ?? 0,
      inputTokens - cacheReadTokens,
    ),
    reasoningTokens: Math.min(readTokenCount(output.reasoning_tokens) ?? 0, outputTokens),
  };
}

/** Whether it can be shown as it is; the ledger estimates what is missing, and that is shown then. */
export function isWholeUsage(usage: Usage | undefined): boolean {
  return usage !== undefined && usage.inputTokens > 0 && usage.outputTokens > 0;
}

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
