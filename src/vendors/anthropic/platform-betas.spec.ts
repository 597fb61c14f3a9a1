import { describe, expect, it } from '@jest/globals';
import { BETA_HEADER, INTERLEAVED, platformBetas } from './platform-betas.js';

const KNOWN = new Map([
  [INTERLEAVED, INTERLEAVED],
  ['effort-2025-11-24', 'effort-2025-11-24'],
  ['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19'],
  ['tool-search-tool-2025-10-19', 'tool-search-tool-2025-10-19'],
]);
const betas = (names: string | undefined, upstreamModel = 'claude-sonnet-4-5@20250929') =>
  platformBetas(
    { upstreamModel, vendorHeaders: names === undefined ? undefined : { [BETA_HEADER]: names } },
    KNOWN,
  );

describe(platformBetas.name, () => {
  it('passes on betas that the platform supports, under its names, once', () => {
    expect(betas(`claude-code-20250219,${INTERLEAVED},effort-2025-11-24`)).toEqual([
      INTERLEAVED,
      'effort-2025-11-24',
    ]);
    expect(betas('advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19')).toEqual([
      'tool-search-tool-2025-10-19',
    ]);
    expect(betas('files-api-2025-04-14')).toEqual([]);
    expect(betas(undefined)).toEqual([]);
  });

  it.each([
    ['claude-opus-4@20250514', true],
    ['anthropic.claude-sonnet-4-20250514-v1:0', true],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', true],
    ['claude-opus-4-5', true],
    ['claude-opus-4-6', false],
    ['claude-opus-5-5', false],
    ['claude-haiku-4-5', false],
    ['claude-3-7-sonnet@20250219', false],
  ])('requests interleaved thinking from %s: %s', (model, isAsked) => {
    expect(betas(INTERLEAVED, model)).toEqual(isAsked ? [INTERLEAVED] : []);
  });
});
