import { describe, expect, it } from '@jest/globals';
import { readLogprobs } from './answer-reader.js';

describe(readLogprobs.name, () => {
  it('gives tokens in the chat dialect’s shape', () => {
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

  it('has a number for what is none', () => {
    const answer = readLogprobs({
      chosenCandidates: [{ token: 'a', logProbability: '-Infinity' }],
    });
    expect(answer?.content[0]?.logprob).toBe(-9999);
  });

  it.each([undefined, null, {}, { chosenCandidates: [] }, { chosenCandidates: 'x' }])(
    'makes nothing of %j',
    (value) => {
      expect(readLogprobs(value)).toBeUndefined();
    },
  );
});
