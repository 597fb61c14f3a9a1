import { isJsonObject } from '../../../platform/http/json-body.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { readTokenCount } from '../read-token-count.js';

/**
 * Reads the `usage` object of an OpenAI-style chat answer.
 *
 * @returns undefined when it is missing, makes no sense, or counts nothing at all, which some
 *   servers send instead of leaving it out
 */
export function readChatUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = readTokenCount(value.prompt_tokens);
  const outputTokens = readTokenCount(value.completion_tokens ?? 0);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
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
