import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { readTokenCount } from '../read-token-count.js';

/**
 * Reads `usageMetadata`. Thoughts are counted beside the answer's tokens and the results of
 * vendor-run tools beside the prompt's; cached tokens are part of the prompt's.
 *
 * @returns undefined when it is missing, makes no sense, or counts nothing at all
 */
export function readUsageMetadata(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const prompt = readCount(value.promptTokenCount);
  const candidates = readCount(value.candidatesTokenCount);
  const thoughts = readCount(value.thoughtsTokenCount);
  const toolUse = readCount(value.toolUsePromptTokenCount);
  const cached = readCount(value.cachedContentTokenCount);
  if (
    prompt === undefined ||
    candidates === undefined ||
    thoughts === undefined ||
    toolUse === undefined ||
    cached === undefined
  ) {
    return undefined;
  }
  const inputTokens = prompt + toolUse;
  // Some models count their thoughts into the answer; the total tells.
  const isCountedIn = thoughts <= candidates && value.totalTokenCount === inputTokens + candidates;
  const outputTokens = isCountedIn ? candidates : candidates + thoughts;
  if (inputTokens + outputTokens === 0) return undefined;
  return {
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheReadTokens: Math.min(cached, inputTokens),
    reasoningTokens: Math.min(thoughts, outputTokens),
  };
}

/** A count that is left out is 0, as everywhere in the vendor's JSON; undefined for nonsense. */
function readCount(value: unknown): number | undefined {
  return readTokenCount(value ?? 0);
}
