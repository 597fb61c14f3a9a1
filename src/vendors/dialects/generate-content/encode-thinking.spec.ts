import { describe, expect, it } from '@jest/globals';
import type { ReasoningControl } from '../../../canonical/canonical-request.js';
import { encodeThinking } from './encode-thinking.js';
import type { ThinkingControl } from './model-traits.js';

const MINIMAL: ThinkingControl = { by: 'level', lowest: 'MINIMAL' };
const LOW: ThinkingControl = { by: 'level', lowest: 'LOW' };
const BUDGET: ThinkingControl = { by: 'budget', min: 512, max: 24_576, canBeOff: true };
const ALWAYS_ON: ThinkingControl = { by: 'budget', min: 128, max: 32_768, canBeOff: false };

describe(encodeThinking.name, () => {
  it('sends nothing when nothing was requested', () => {
    expect(encodeThinking(undefined, LOW)).toEqual({ thinkingConfig: undefined, isExact: true });
  });

  it.each<[ReasoningControl, ThinkingControl, object]>([
    [{ effort: 'minimal' }, MINIMAL, { includeThoughts: true, thinkingLevel: 'MINIMAL' }],
    [{ effort: 'low' }, LOW, { includeThoughts: true, thinkingLevel: 'LOW' }],
    [{ effort: 'medium' }, LOW, { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
    [{ effort: 'high', enabled: true }, LOW, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    [{ enabled: true }, LOW, { includeThoughts: true }],
    [{ enabled: true }, BUDGET, { includeThoughts: true }],
    [{ effort: 'low' }, BUDGET, { includeThoughts: true, thinkingBudget: 1_024 }],
    [{ effort: 'medium' }, BUDGET, { includeThoughts: true, thinkingBudget: 8_192 }],
    [{ effort: 'high' }, BUDGET, { includeThoughts: true, thinkingBudget: 24_576 }],
    [{ maxTokens: 2_000 }, BUDGET, { includeThoughts: true, thinkingBudget: 2_000 }],
    [
      { maxTokens: 2_000, effort: 'high' },
      BUDGET,
      { includeThoughts: true, thinkingBudget: 2_000 },
    ],
    [{ effort: 'none' }, BUDGET, { thinkingBudget: 0 }],
    [{ enabled: false, effort: 'high' }, BUDGET, { thinkingBudget: 0 }],
    [{ maxTokens: 0 }, BUDGET, { thinkingBudget: 0 }],
  ])('honors %j exactly for a model with %j', (control, thinking, expected) => {
    expect(encodeThinking(control, thinking)).toEqual({ thinkingConfig: expected, isExact: true });
  });

  it.each<[ReasoningControl, ThinkingControl, object]>([
    [{ effort: 'none' }, LOW, { thinkingLevel: 'LOW' }],
    [{ effort: 'none' }, MINIMAL, { thinkingLevel: 'MINIMAL' }],
    [{ enabled: false }, ALWAYS_ON, { thinkingBudget: 128 }],
    [{ effort: 'minimal' }, LOW, { includeThoughts: true, thinkingLevel: 'LOW' }],
    [{ effort: 'xhigh' }, LOW, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    [{ effort: 'max' }, BUDGET, { includeThoughts: true, thinkingBudget: 24_576 }],
    [{ effort: 'brisk' }, LOW, { includeThoughts: true }],
    [{ effort: 'brisk' }, BUDGET, { includeThoughts: true }],
    [{ maxTokens: 1_024 }, LOW, { includeThoughts: true, thinkingLevel: 'LOW' }],
    [{ maxTokens: 8_192 }, LOW, { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
    [{ maxTokens: 8_193 }, LOW, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    [{ maxTokens: 9, effort: 'high' }, LOW, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    [{ maxTokens: 100 }, BUDGET, { includeThoughts: true, thinkingBudget: 512 }],
    [{ maxTokens: 50_000 }, BUDGET, { includeThoughts: true, thinkingBudget: 24_576 }],
  ])('approximates %j for %j and reports it', (control, thinking, expected) => {
    expect(encodeThinking(control, thinking)).toEqual({ thinkingConfig: expected, isExact: false });
  });

  it('reports options for a model without thinking as inexact, except disabled thinking', () => {
    expect(encodeThinking({ effort: 'high' }, undefined)).toEqual({ isExact: false });
    expect(encodeThinking({ effort: 'none' }, undefined)).toEqual({ isExact: true });
  });
});
