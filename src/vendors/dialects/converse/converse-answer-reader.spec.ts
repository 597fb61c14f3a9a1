import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../../canonical/usage.js';
import { ConverseAnswerReader, readConverseUsage } from './converse-answer-reader.js';

describe(ConverseAnswerReader.name, () => {
  it('takes redacted reasoning in time that grows with the number of its pieces', () => {
    const reader = new ConverseAnswerReader({
      signatureIssuer: 'maker',
      redactedIssuer: 'redacted',
      jsonTool: undefined,
    });
    const startedMs = performance.now();
    for (let count = 0; count < 50_000; count++) reader.redactedReasoning(0, 'QUFB');
    // Copying the pieces for each of them took 8 s.
    expect(performance.now() - startedMs).toBeLessThan(1_500);
    const signature = `redacted:${'QUFB'.repeat(50_000)}`;
    expect(reader.blockStop(0)).toEqual([{ type: 'reasoning', choice: 0, text: '', signature }]);
  });
});

describe(readConverseUsage.name, () => {
  it('adds cached tokens to those of the input, which the vendor counts apart', () => {
    expect(
      readConverseUsage({
        inputTokens: 10,
        outputTokens: 7,
        totalTokens: 167,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 50,
        cacheDetails: [
          { ttl: '1h', inputTokens: 20 },
          { ttl: '5m', inputTokens: 30 },
        ],
      }),
    ).toEqual({
      ...NO_USAGE,
      inputTokens: 160,
      outputTokens: 7,
      cacheReadTokens: 100,
      cacheWriteTokens: 50,
      cacheWriteLongTokens: 20,
      reasoningTokens: 0,
      webSearches: 0,
    });
  });

  it.each<[unknown, number, number]>([
    [{ inputTokens: 3, outputTokens: 4 }, 3, 4],
    [{ inputTokens: 3 }, 3, 0],
    [{ inputTokens: -3, outputTokens: 1.5 }, 0, 0],
    [{ inputTokens: '3', outputTokens: null }, 0, 0],
    [{ inputTokens: 3, outputTokens: 1e300 }, 3, 0],
    [{ inputTokens: 3, outputTokens: Number.MAX_SAFE_INTEGER }, 3, 0],
    [{ inputTokens: 3, cacheDetails: [{ ttl: '1h', inputTokens: 9 }, null] }, 3, 0],
  ])('of %j is %i in and %i out', (value, inputTokens, outputTokens) => {
    expect(readConverseUsage(value)).toMatchObject({
      inputTokens,
      outputTokens,
      cacheWriteLongTokens: 0,
    });
  });

  it.each([undefined, null, [], 'usage', {}, { totalTokens: 3 }])('is none of %j', (value) => {
    expect(readConverseUsage(value)).toBeUndefined();
  });
});
