import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../../canonical/usage.js';
import { readUsageMetadata } from './answer-reader.js';

describe(readUsageMetadata.name, () => {
  it.each<[object, object]>([
    [{ promptTokenCount: 9, totalTokenCount: 9 }, { inputTokens: 9 }],
    [
      {
        promptTokenCount: 29,
        candidatesTokenCount: 15,
        thoughtsTokenCount: 804,
        totalTokenCount: 848,
      },
      { inputTokens: 29, outputTokens: 819, reasoningTokens: 804 },
    ],
    [
      {
        promptTokenCount: 55,
        candidatesTokenCount: 51,
        toolUsePromptTokenCount: 89,
        thoughtsTokenCount: 56,
        totalTokenCount: 251,
      },
      { inputTokens: 144, outputTokens: 107, reasoningTokens: 56 },
    ],
    [
      { promptTokenCount: 100, cachedContentTokenCount: 80, candidatesTokenCount: 1 },
      { inputTokens: 100, outputTokens: 1, cacheReadTokens: 80 },
    ],
    [
      // Thoughts that the answer's tokens include already, which the total shows.
      {
        promptTokenCount: 10,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 15,
        totalTokenCount: 30,
      },
      { inputTokens: 10, outputTokens: 20, reasoningTokens: 15 },
    ],
    [
      { promptTokenCount: 10, cachedContentTokenCount: 99, candidatesTokenCount: 1 },
      { inputTokens: 10, outputTokens: 1, cacheReadTokens: 10 },
    ],
  ])('reads %j', (metadata, expected) => {
    expect(readUsageMetadata(metadata)).toEqual({ ...NO_USAGE, ...expected });
  });

  it.each([
    undefined,
    null,
    [],
    'x',
    {},
    { promptTokenCount: 0, candidatesTokenCount: 0 },
    { promptTokenCount: -1 },
    { promptTokenCount: 1.5 },
    { promptTokenCount: '7' },
    { promptTokenCount: 1e12 },
    { promptTokenCount: 1, candidatesTokenCount: 'many' },
  ])('makes nothing of %j', (metadata) => {
    expect(readUsageMetadata(metadata)).toBeUndefined();
  });
});
