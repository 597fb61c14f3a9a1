import type { Usage } from '../../../canonical/usage.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { isJsonObject } from '../../../platform/http/json-body.js';

/**
 * What an answer used. The vendor counts cached tokens apart from `inputTokens`, and reasoning as
 * output without saying how much of it there was. Undefined where it gives no figures.
 */
export function readConverseUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  if (value.inputTokens === undefined && value.outputTokens === undefined) return undefined;
  const cacheReadTokens = toCount(value.cacheReadInputTokens);
  const cacheWriteTokens = toCount(value.cacheWriteInputTokens);
  return {
    ...NO_USAGE,
    inputTokens: toCount(value.inputTokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: toCount(value.outputTokens),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteLongTokens: Math.min(cacheWriteTokens, readLongWrites(value.cacheDetails)),
  };
}

function readLongWrites(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  return details
    .filter(isJsonObject)
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + toCount(inputTokens), 0);
}

function toCount(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
