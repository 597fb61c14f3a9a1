import { describe, expect, it } from '@jest/globals';
import { geminiTraits } from './gemini-traits.js';

describe(geminiTraits.name, () => {
  it.each<[string, object | undefined]>([
    ['gemini-4-argon', { by: 'level', lowest: 'LOW' }],
    ['gemini-3.8-flash', { by: 'level', lowest: 'LOW' }],
    ['gemini-3.7-flash-lite', { by: 'level', lowest: 'MINIMAL' }],
    ['gemini-3.5-flash', { by: 'level', lowest: 'MINIMAL' }],
    ['gemini-3-flash-preview', { by: 'level', lowest: 'MINIMAL' }],
    ['gemini-3.1-pro-preview', { by: 'level', lowest: 'LOW' }],
    ['gemini-2.5-pro', { by: 'budget', min: 128, max: 32_768, canBeOff: false }],
    ['gemini-2.5-flash', { by: 'budget', min: 1, max: 24_576, canBeOff: true }],
    ['gemini-2.5-flash-lite', { by: 'budget', min: 512, max: 24_576, canBeOff: true }],
    ['gemini-2.0-flash-001', undefined],
    ['gemini-1.5-pro', undefined],
    ['gemma-3-27b-it', undefined],
    ['gemini-flash-latest', { by: 'level', lowest: 'LOW' }],
  ])('returns the thinking control of %s', (model, thinking) => {
    expect(geminiTraits(model).thinking).toEqual(thinking);
  });

  it.each<[string, object]>([
    ['gemini-2.5-pro', { maxCandidates: 8, takesPenalties: true, wantsSignedCalls: false }],
    ['gemini-3.5-flash', { maxCandidates: 1, takesPenalties: true, wantsSignedCalls: true }],
    ['gemini-4-argon', { maxCandidates: 1, takesPenalties: false, takesCallIds: true }],
    ['gemini-3.5-flash', { takesSampling: true }],
    ['gemini-3.5-flash-lite', { takesSampling: false }],
    ['gemini-3.1-flash-lite', { takesSampling: true }],
    ['gemini-3.1-pro-preview', { takesSampling: true }],
    ['gemini-3.8-flash', { takesSampling: false }],
    ['gemini-4-argon', { takesSampling: false }],
    ['gemini-10.1-ultra', { maxCandidates: 1, takesPenalties: false, takesCallIds: true }],
  ])('returns the traits of %s', (model, traits) => {
    expect(geminiTraits(model)).toMatchObject(traits);
  });
});
