import { describe, expect, it } from '@jest/globals';
import type { ReasoningControl } from '../../../canonical/canonical-request.js';
import { toReasoningEffort } from './encode-chat-request.js';

describe(toReasoningEffort.name, () => {
  it.each<[ReasoningControl | undefined, string | undefined]>([
    [undefined, undefined],
    [{}, undefined],
    [{ effort: 'none' }, 'none'],
    [{ effort: 'xhigh', maxTokens: 1 }, 'xhigh'],
    [{ maxTokens: 1_024 }, 'low'],
    [{ maxTokens: 4_096 }, 'low'],
    [{ maxTokens: 4_097 }, 'medium'],
    [{ maxTokens: 16_384, enabled: true }, 'medium'],
    [{ maxTokens: 16_385 }, 'high'],
    [{ enabled: true }, 'medium'],
    [{ enabled: false }, undefined],
    [{ enabled: false, maxTokens: 9_000 }, undefined],
  ])('makes of %j the effort %j', (control, effort) => {
    expect(toReasoningEffort(control)).toBe(effort);
  });
});
