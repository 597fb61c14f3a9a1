import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../../canonical/usage.js';
import { readChatUsage, readStreamedUsage, measureChatOutput } from './read-chat-usage.js';

describe(readChatUsage.name, () => {
  it('reads everything that OpenAI counts', () => {
    expect(
      readChatUsage({
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 20, accepted_prediction_tokens: 0 },
      }),
    ).toEqual({
      ...NO_USAGE,
      inputTokens: 100,
      outputTokens: 50,
      cacheReadTokens: 60,
      cacheWriteTokens: 10,
      cacheWriteLongTokens: 0,
      reasoningTokens: 20,
      webSearches: 0,
    });
  });

  it.each<[string, object, object]>([
    ['with separate cache hit counts', { prompt_cache_hit_tokens: 7 }, { cacheReadTokens: 7 }],
    ['with a top-level cache count', { cached_tokens: 7 }, { cacheReadTokens: 7 }],
    [
      'with reasoning on top of the completion',
      { total_tokens: 35, completion_tokens_details: { reasoning_tokens: 20 } },
      { outputTokens: 25, reasoningTokens: 20 },
    ],
    [
      'with reasoning within the completion',
      { total_tokens: 15, completion_tokens_details: { reasoning_tokens: 4 } },
      { outputTokens: 5, reasoningTokens: 4 },
    ],
  ])('reads cached and reasoning tokens %s', (_where, usage, expected) => {
    expect(readChatUsage({ prompt_tokens: 10, completion_tokens: 5, ...usage })).toMatchObject({
      inputTokens: 10,
      ...expected,
    });
  });

  it.each<[object, object]>([
    [
      { prompt_tokens: 3, completion_tokens: 4 },
      { inputTokens: 3, outputTokens: 4 },
    ],
    [{ prompt_tokens: 3 }, { inputTokens: 3 }],
    [{ prompt_tokens: 3, completion_tokens: null }, { inputTokens: 3 }],
    [{ prompt_tokens: 0, completion_tokens: 4 }, { outputTokens: 4 }],
    [{ completion_tokens: 5 }, { outputTokens: 5 }],
    [{ prompt_tokens: '3', completion_tokens: 4 }, { outputTokens: 4 }],
    [{ prompt_tokens: -3, completion_tokens: 4 }, { outputTokens: 4 }],
    [{ prompt_tokens: 3.5, completion_tokens: 4 }, { outputTokens: 4 }],
    [{ prompt_tokens: NaN, completion_tokens: 4 }, { outputTokens: 4 }],
    [{ prompt_tokens: 1e12, completion_tokens: 4 }, { outputTokens: 4 }],
    [{ prompt_tokens: 3, completion_tokens: -4 }, { inputTokens: 3 }],
    [{ prompt_tokens: 3, completion_tokens: '4' }, { inputTokens: 3 }],
    [{ prompt_tokens: 3, completion_tokens: 4.5 }, { inputTokens: 3 }],
    [{ prompt_tokens: 3, completion_tokens: 1e300 }, { inputTokens: 3 }],
    [
      { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: null },
      { inputTokens: 3, outputTokens: 4 },
    ],
    [
      { prompt_tokens: 3, prompt_tokens_details: { cached_tokens: '3', cache_write_tokens: -1 } },
      { inputTokens: 3 },
    ],
  ])('reads %j', (usage, expected) => {
    expect(readChatUsage(usage)).toEqual({ ...NO_USAGE, ...expected });
  });

  it('reads the reported service tier', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    expect(readChatUsage(usage, 'flex')).toMatchObject({ servedTier: 'flex' });
    for (const tier of [undefined, null, 1]) {
      expect(readChatUsage(usage, tier)).not.toHaveProperty('servedTier');
    }
    expect(readStreamedUsage({ usage, service_tier: 'priority' })?.servedTier).toBe('priority');
  });

  it('never lets a part exceed its total', () => {
    const usage = readChatUsage({
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 9 },
    });
    expect(usage).toMatchObject({ cacheReadTokens: 8, cacheWriteTokens: 2, reasoningTokens: 5 });
  });

  it.each([
    undefined,
    null,
    'none',
    [],
    {},
    { total_tokens: 5 },
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: -1, completion_tokens: 1e300 },
    { prompt_tokens: Infinity, completion_tokens: Number.MAX_SAFE_INTEGER },
  ])('returns undefined for %j', (usage) => {
    expect(readChatUsage(usage)).toBeUndefined();
  });
});

describe(measureChatOutput.name, () => {
  it.each<[Record<string, unknown>, number]>([
    [{}, 0],
    [{ role: 'assistant', content: '' }, 0],
    [{ content: null, refusal: null, tool_calls: null, function_call: null }, 0],
    [{ content: 'größe' }, 5],
    [{ content: '日本🙂' }, 3],
    [{ content: '\ud83d' }, 1],
    [{ content: 5 }, 0],
    [{ refusal: 'no' }, 2],
    [{ reasoning_content: 'abc' }, 3],
    [{ reasoning: 'abc' }, 3],
    [{ reasoning: 'abc', reasoning_content: 'abc' }, 3],
    [{ content: 'a', reasoning: 'b', refusal: 'c' }, 3],
    [{ content: [{ type: 'text', text: 'ab' }, { type: 'image' }, null, 'x'] }, 2],
    [{ function_call: { name: 'f', arguments: '{}' } }, 3],
    [{ tool_calls: [{ id: 'abc', function: { name: 'f', arguments: '{}' } }] }, 3],
    [
      { tool_calls: [{ function: { arguments: '{"🙂"' } }, { custom: { name: 'g', input: 'x' } }] },
      6,
    ],
    [{ tool_calls: [null, 1, {}, { function: null }, { function: 'f' }] }, 0],
  ])('measures %j', (message, characters) => {
    expect(measureChatOutput(message)).toBe(characters);
  });
});
