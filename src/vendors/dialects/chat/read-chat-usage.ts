import { isJsonObject } from '../../../platform/http/json-body.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { readTokenCount } from '../read-token-count.js';

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
