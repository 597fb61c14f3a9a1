import { describe, expect, it } from '@jest/globals';
import { MessagesUsageReader } from './read-messages-usage.js';

function read(...usages: unknown[]) {
  const reader = new MessagesUsageReader();
  for (const usage of usages) reader.add(usage, { isFinal: true });
  return reader.read();
}

describe(MessagesUsageReader.name, () => {
  it('includes cached tokens in the input', () => {
    expect(
      read({
        input_tokens: 1,
        cache_read_input_tokens: 20,
        cache_creation_input_tokens: 300,
        output_tokens: 4,
      }),
    ).toMatchObject({
      inputTokens: 321,
      cacheReadTokens: 20,
      cacheWriteTokens: 300,
      cacheWriteLongTokens: 0,
    });
  });

  it('reads cache writes that are only given by duration', () => {
    const cache_creation = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 };
    expect(read({ input_tokens: 1, output_tokens: 1, cache_creation })).toMatchObject({
      inputTokens: 8,
      cacheWriteTokens: 7,
      cacheWriteLongTokens: 4,
    });
  });

  it('reads the service tier and the region', () => {
    const reader = new MessagesUsageReader();
    reader.add(
      { input_tokens: 3, service_tier: 'standard', inference_geo: 'us' },
      { isFinal: false },
    );
    const served = { servedTier: 'standard', servedRegion: 'us' };
    expect(reader.readSoFar()).toMatchObject(served);
    reader.add({ output_tokens: 4 }, { isFinal: true });
    expect(reader.read()).toMatchObject({ outputTokens: 4, ...served });
  });

  it('never lets a part exceed its total', () => {
    expect(
      read({
        input_tokens: 1,
        output_tokens: 1,
        cache_creation_input_tokens: 2,
        cache_creation: { ephemeral_1h_input_tokens: 9 },
        output_tokens_details: { thinking_tokens: 9 },
      }),
    ).toMatchObject({ cacheWriteTokens: 2, cacheWriteLongTokens: 2, reasoningTokens: 1 });
  });

  it.each([
    undefined,
    null,
    'x',
    {},
    { input_tokens: 5 },
    { input_tokens: 0, output_tokens: 0 },
    { output_tokens: -1 },
    { output_tokens: 1.5 },
    { output_tokens: 1e12 },
  ])('returns undefined for %j', (usage) => {
    expect(read(usage)).toBeUndefined();
  });
});
