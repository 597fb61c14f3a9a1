import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { codePointsOf, readTokenCount, objectOf } from '../answer-json.js';

/**
 * Reads the `usage` object of an OpenAI-style chat answer. A missing or invalid count becomes 0: the
 * ledger estimates it and trusts the other one.
 *
 * @param tier the service tier that the answer reports
 * @returns undefined when it is missing or has only zeros, which some servers send instead
 */
export function readChatUsage(value: unknown, tier?: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = readTokenCount(value.prompt_tokens) ?? 0;
  const completionTokens = readTokenCount(value.completion_tokens) ?? 0;
  if (inputTokens + completionTokens === 0) return undefined;
  const input = objectOf(value.prompt_tokens_details);
  const output = objectOf(value.completion_tokens_details);
  const thought = readTokenCount(output.reasoning_tokens) ?? 0;
  // Some servers count reasoning on top of the completion and bill both; only the total shows it.
  const isBeside = thought > 0 && value.total_tokens === inputTokens + completionTokens + thought;
  const outputTokens = isBeside ? completionTokens + thought : completionTokens;
  // Servers that do not use the dialect's field each have their own.
  const cached = input.cached_tokens ?? value.prompt_cache_hit_tokens ?? value.cached_tokens;
  const cacheReadTokens = Math.min(readTokenCount(cached) ?? 0, inputTokens);
  const usage: Usage = {
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens: Math.min(
      readTokenCount(input.cache_write_tokens) ?? 0,
      inputTokens - cacheReadTokens,
    ),
    reasoningTokens: Math.min(thought, outputTokens),
  };
  if (typeof tier === 'string') usage.servedTier = tier;
  return usage;
}

/** Reads the usage of a streamed chunk or choice; some servers use a non-standard field. */
export function readStreamedUsage({
  usage,
  x_groq: own,
  service_tier: tier,
}: JsonObject): Usage | undefined {
  return readChatUsage(usage ?? objectOf(own).usage, tier);
}

/** Returns whether usage can be shown unchanged; otherwise the ledger's estimate is shown. */
export function isWholeUsage(usage: Usage | undefined): boolean {
  return usage !== undefined && usage.inputTokens > 0 && usage.outputTokens > 0;
}

/**
 * Counts the code points of a chat `message` or `delta`: text, reasoning, refusal, and the names and
 * arguments of tool calls. Also 0 for one that only names the role.
 */
export function measureChatOutput(message: JsonObject): number {
  let characters = contentOf(message.content) + codePointsOf(message.refusal);
  // Servers that support both names send the same text under both.
  characters += codePointsOf(message.reasoning_content ?? message.reasoning);
  characters += measureCall(message.function_call);
  if (Array.isArray(message.tool_calls)) {
    for (const call of message.tool_calls) {
      if (isJsonObject(call)) characters += measureCall(call.function ?? call.custom);
    }
  }
  return characters;
}

/** Returns the text, or joins the parts that some servers send instead. */
function contentOf(content: unknown): number {
  if (!Array.isArray(content)) return codePointsOf(content);
  let characters = 0;
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    characters += codePointsOf(part.text) + contentOf(part.thinking);
  }
  return characters;
}

function measureCall(definition: unknown): number {
  if (!isJsonObject(definition)) return 0;
  const { name, arguments: args, input } = definition;
  return codePointsOf(name) + codePointsOf(args) + codePointsOf(input);
}
