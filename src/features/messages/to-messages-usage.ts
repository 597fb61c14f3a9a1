import type { Usage } from '../../canonical/usage.js';

/** Usage as this dialect counts it: cached tokens are no part of `input_tokens`. */
export function toMessagesUsage(usage: Usage): object {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteLongTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: usage.outputTokens,
    ...(cacheWriteTokens > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWriteLongTokens),
        ephemeral_1h_input_tokens: cacheWriteLongTokens,
      },
    }),
    ...(usage.reasoningTokens > 0 && {
      output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    }),
    ...(usage.webSearches > 0 && {
      server_tool_use: { web_search_requests: usage.webSearches },
    }),
  };
}
