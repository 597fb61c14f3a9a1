import { describe, expect, it } from '@jest/globals';
import { readLogprobs, readUsageMetadata } from './answer-reader.js';
import { NO_USAGE } from '../../../canonical/usage.js';

describe(readLogprobs.name, () => {
  it("converts tokens to the chat dialect's format", () => {
    expect(
      readLogprobs({
        chosenCandidates: [{ token: 'ß', tokenId: 7, logProbability: -0.25 }, { token: '!' }],
        topCandidates: [
          {
            candidates: [
              { token: 'ß', logProbability: -0.25 },
              { token: 's', logProbability: -1.5 },
            ],
          },
        ],
      }),
    ).toEqual({
      content: [
        {
          token: 'ß',
          logprob: -0.25,
          bytes: [195, 159],
          top_logprobs: [
            { token: 'ß', logprob: -0.25, bytes: [195, 159] },
            { token: 's', logprob: -1.5, bytes: [115] },
          ],
        },
        { token: '!', logprob: 0, bytes: [33], top_logprobs: [] },
      ],
    });
  });

  it('replaces values that are not numbers', () => {
    const answer = readLogprobs({
      chosenCandidates: [{ token: 'a', logProbability: '-Infinity' }],
    });
    expect(answer?.content[0]?.logprob).toBe(-9999);
  });

  it.each([undefined, null, {}, { chosenCandidates: [] }, { chosenCandidates: 'x' }])(
    'returns undefined for %j',
    (value) => {
      expect(readLogprobs(value)).toBeUndefined();
    },
  );
});

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
      // Reasoning that is included in the answer's tokens, as the total shows.
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
  ])('returns undefined for %j', (metadata) => {
    expect(readUsageMetadata(metadata)).toBeUndefined();
  });
});
