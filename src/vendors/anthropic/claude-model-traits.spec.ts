import { describe, expect, it } from '@jest/globals';
import { claudeModelTraits } from './claude-model-traits.js';

/** Summarizes the traits in a line: sampling, thinking, off, forced, prefill, structured. */
function summary(model: string): string {
  const traits = claudeModelTraits(model);
  return [
    traits.sampling ? 'sampling' : '-',
    traits.thinking,
    traits.thinksByDefault ? (traits.thinkingOff ?? 'always') : 'on demand',
    traits.forcedToolChoice ? 'forced' : '-',
    traits.prefill ? 'prefill' : '-',
    traits.structuredOutput ? 'schema' : '-',
  ].join(' ');
}

describe(claudeModelTraits.name, () => {
  it.each([
    ['claude-3-5-haiku-20241022', 'sampling none on demand forced prefill -'],
    ['claude-3-7-sonnet-20250219', 'sampling budget on demand forced prefill -'],
    ['claude-sonnet-4-20250514', 'sampling budget on demand forced prefill -'],
    ['claude-opus-4-1-20250805', 'sampling budget on demand forced prefill -'],
    ['claude-haiku-4-5-20251001', 'sampling budget on demand forced prefill schema'],
    ['claude-opus-4-5@20251101', 'sampling budget on demand forced prefill schema'],
    [
      'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'sampling budget on demand forced prefill schema',
    ],
    ['global.anthropic.claude-opus-4-6-v1', 'sampling adaptive on demand forced - schema'],
    ['claude-sonnet-4-6', 'sampling adaptive on demand forced - schema'],
    ['claude-opus-4-8', '- adaptive on demand forced - schema'],
    ['claude-sonnet-5', '- adaptive disabled forced - schema'],
    ['claude-opus-5', '- adaptive disabled forced - schema'],
    ['claude-haiku-5-5', '- adaptive disabled forced - schema'],
    ['claude-sonnet-5-5', '- adaptive between_tools - - schema'],
    ['claude-opus-5-5', '- adaptive always - - schema'],
    ['claude-fable-5', '- adaptive always forced - schema'],
    ['claude-fable-5-2', '- adaptive always - - schema'],
    ['claude-mythos-5-1', '- adaptive always - - schema'],
    ['claude-opus-6', '- adaptive always forced - schema'],
    ['claude-next', '- adaptive always forced - schema'],
    ['some-server-model', 'sampling budget on demand forced prefill -'],
  ])('returns for %s: %s', (model, expected) => {
    expect(summary(model)).toBe(expected);
  });
});
