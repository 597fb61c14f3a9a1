import { describe, expect, it } from '@jest/globals';
import { nearestIds } from './nearest-ids.js';

const IDS = [
  'openai/gpt-4o',
  'openai/gpt-4o-mini',
  'openai/tts-1',
  'groq/openai/gpt-oss-120b',
  'b/x',
];

describe(nearestIds.name, () => {
  it.each([
    ['openai/gpt4o', ['openai/gpt-4o', 'openai/gpt-4o-mini']],
    ['gpt-4o-mini', ['openai/gpt-4o-mini']],
    ['OpenAI/GPT-4o-Minni', ['openai/gpt-4o-mini', 'openai/gpt-4o']],
    ['zzz', []],
    ['', []],
    [`openai/gpt-4o${'o'.repeat(300)}`, []],
  ])('for %s are %j', (alias, expected) => {
    expect(nearestIds(alias, IDS).slice(0, 2)).toEqual(expected);
  });

  it('are at most three', () => {
    expect(
      nearestIds('a/model', ['a/model-1', 'a/model-2', 'a/model-3', 'a/model-4']),
    ).toHaveLength(3);
  });
});
