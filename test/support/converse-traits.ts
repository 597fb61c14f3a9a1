import type { ConverseTraits } from '../../src/vendors/dialects/converse/converse-traits.js';

/** A model that supports everything; tests override what matters to them. */
export function converseTraits(overrides: Partial<ConverseTraits> = {}): ConverseTraits {
  return {
    signatureIssuer: 'maker',
    redactedIssuer: 'maker-redacted',
    reasoning: { kind: 'budget' },
    samplers: 'both',
    topK: 'field',
    stops: 'any',
    nativeSchemas: true,
    strictTools: true,
    forcedTools: 'any-or-named',
    singleToolCalls: true,
    toolResultStatus: true,
    toolIds: 'any',
    cachePoints: 'everywhere',
    longCache: true,
    namesStopSequence: false,
    ...overrides,
  };
}
