import type { ModelTraits } from '../../src/vendors/dialects/generate-content/model-traits.js';

/** A model that supports everything in the dialect. */
export function modelTraits(overrides: Partial<ModelTraits> = {}): ModelTraits {
  return {
    thinking: { by: 'level', lowest: 'MINIMAL' },
    wantsSignedCalls: true,
    takesCallIds: true,
    takesMediaInResults: true,
    maxCandidates: 8,
    takesSampling: true,
    takesPenalties: true,
    formatsBesideTools: true,
    ...overrides,
  };
}

/** A model of the previous generation, which supports much less. */
export function olderModelTraits(overrides: Partial<ModelTraits> = {}): ModelTraits {
  return modelTraits({
    thinking: { by: 'budget', min: 128, max: 32_768, canBeOff: true },
    wantsSignedCalls: false,
    takesCallIds: false,
    takesMediaInResults: false,
    formatsBesideTools: false,
    ...overrides,
  });
}
