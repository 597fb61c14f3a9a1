import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { converseTraits } from '../../../../test/support/converse-traits.js';
import { converseControls } from './encode-converse-request.js';
import type { ConverseTraits, ReasoningStyle } from './converse-traits.js';

const MAX_TOKENS = 10_000;

const controls = (
  fields: Record<string, unknown>,
  overrides: Partial<ConverseTraits> = {},
  maxOutputTokens = MAX_TOKENS,
) => {
  const traits = converseTraits(overrides);
  const made = converseControls(chatRequest(fields), traits, maxOutputTokens);
  const { effort } = made.reasoning;
  return {
    config: made.inferenceConfig,
    fields: made.fields,
    dropped: made.dropped,
    ...(effort !== undefined && { effort }),
    ...(made.requestMetadata && { metadata: made.requestMetadata }),
  };
};

const refusal = (fields: Record<string, unknown>, overrides: Partial<ConverseTraits> = {}) => {
  try {
    controls(fields, overrides);
  } catch (error) {
    return error;
  }
  throw new Error('was not rejected');
};

describe(converseControls.name, () => {
  it('encodes each control at its place', () => {
    expect(
      controls({ temperature: 0, top_p: 0.5, top_k: 40, stop: ['END'], user: 'a@b.example' }),
    ).toEqual({
      config: { maxTokens: MAX_TOKENS, temperature: 0, topP: 0.5, stopSequences: ['END'] },
      fields: { top_k: 40 },
      dropped: [],
      metadata: { end_user: 'a@b.example' },
    });
  });

  it('always limits the output to what credits are reserved for', () => {
    expect(controls({}, {}, 77).config).toEqual({ maxTokens: 77 });
  });

  it("encodes top_k at a model's own place", () => {
    expect(controls({ top_k: 4 }, { topK: 'inference-config' }).fields).toEqual({
      inferenceConfig: { topK: 4 },
    });
  });

  it.each<[string, Record<string, unknown>, Partial<ConverseTraits>, string[]]>([
    ['no samplers', { temperature: 1, top_p: 1 }, { samplers: 'none' }, ['temperature', 'top_p']],
    ['one sampler', { temperature: 1, top_p: 1 }, { samplers: 'one' }, ['top_p']],
    ['one sampler, given only top_p', { top_p: 1 }, { samplers: 'one' }, []],
    ['no top_k', { top_k: 4 }, { topK: 'none' }, ['top_k']],
    ['no stops', { stop: 'END' }, { stops: 'none' }, ['stop']],
    ['an end user with unsupported characters', { user: 'Zoë "Z" Ünal' }, {}, ['user']],
    ['a long end user', { user: 'x'.repeat(257) }, {}, ['user']],
  ])('reports dropped fields for %s', (_what, fields, traits, dropped) => {
    const made = controls(fields, traits);
    expect(made.dropped).toEqual(dropped);
    expect(Object.keys(made.config)).toHaveLength(1 + Object.keys(fields).length - dropped.length);
  });

  it.each<[Record<string, unknown>, Partial<ConverseTraits>, string]>([
    [{ temperature: 1.01 }, {}, 'temperature'],
    [{ stop: ['END', '\n'] }, { stops: 'not-blank' }, 'stop'],
  ])('rejects %j rather than change it', (fields, traits, param) => {
    expect(refusal(fields, traits)).toMatchObject({ failure: 'unsupported', param });
  });

  describe('for reasoning', () => {
    const reason = (
      reasoning: ReasoningStyle,
      options: Record<string, unknown>,
      maxOutputTokens?: number,
    ) => {
      const { fields, dropped, effort } = controls(options, { reasoning }, maxOutputTokens);
      return { fields, dropped, ...(effort !== undefined && { effort }) };
    };
    const effort = (word: string) => ({ reasoning_effort: word });
    const adaptive = (off: 'out' | 'disabled' | 'never', isHidden = false): ReasoningStyle => ({
      kind: 'adaptive',
      off,
      isHidden,
    });

    it.each<[ReasoningStyle['kind'], Record<string, unknown>, object, string[]]>([
      ['none', effort('high'), {}, ['reasoning']],
      ['none', effort('none'), {}, []],
      ['budget', effort('none'), {}, []],
      ['budget', { reasoning: { enabled: false } }, {}, []],
      ['budget', { reasoning: {} }, {}, []],
      ['reasoning-config', effort('low'), { type: 'enabled', maxReasoningEffort: 'low' }, []],
      ['reasoning-config', effort('minimal'), { type: 'enabled', maxReasoningEffort: 'low' }, []],
      [
        'reasoning-config',
        effort('high'),
        { type: 'enabled', maxReasoningEffort: 'medium' },
        ['reasoning'],
      ],
      [
        'reasoning-config',
        { reasoning: { max_tokens: 500 } },
        { type: 'enabled', maxReasoningEffort: 'medium' },
        ['reasoning.max_tokens'],
      ],
      ['reasoning-config', effort('none'), { type: 'disabled' }, []],
      ['flat-effort', effort('high'), { flat: 'high' }, []],
      ['flat-effort', { reasoning: { enabled: true } }, { flat: 'medium' }, []],
      ['flat-effort', effort('none'), { flat: 'low' }, ['reasoning']],
      ['nested-effort', effort('minimal'), { effort: 'low' }, []],
      ['nested-effort', effort('none'), { effort: 'none' }, []],
    ])('encodes for a model with %s the options %j as %j', (kind, options, value, dropped) => {
      const spelled: Record<string, (value: object) => object> = {
        'reasoning-config': (reasoningConfig) => ({ reasoningConfig }),
        'flat-effort': (word) => ({ reasoning_effort: (word as { flat: string }).flat }),
        'nested-effort': (reasoning) => ({ reasoning }),
      };
      const fields = spelled[kind]?.(value) ?? {};
      expect(reason({ kind } as ReasoningStyle, options)).toEqual({ fields, dropped });
    });

    it.each<[Record<string, unknown>, number, number]>([
      [effort('minimal'), 20_000, 2_000],
      [effort('low'), 10_000, 2_000],
      [effort('medium'), 10_000, 5_000],
      [effort('high'), 10_000, 8_000],
      [effort('constructor'), 10_000, 5_000],
      [effort('low'), 1_025, 1_024],
      [{ reasoning: { enabled: true } }, 10_000, 5_000],
      [{ reasoning: { max_tokens: 3_000 } }, 10_000, 3_000],
      [{ reasoning: { max_tokens: 10 } }, 1_000, 10],
    ])('derives a budget from %j of %i: %i', (options, limit, budget_tokens) => {
      expect(reason({ kind: 'budget' }, options, limit)).toEqual({
        fields: { thinking: { type: 'enabled', budget_tokens } },
        dropped: [],
      });
    });

    it('omits a budget that leaves no room for an answer', () => {
      expect(reason({ kind: 'budget' }, effort('high'), 1_024)).toEqual({
        fields: {},
        dropped: ['reasoning'],
      });
    });

    it.each<[ReasoningStyle, Record<string, unknown>, object]>([
      [
        adaptive('out'),
        effort('high'),
        { fields: { thinking: { type: 'adaptive' } }, effort: 'high' },
      ],
      [
        adaptive('out'),
        { reasoning: { enabled: true } },
        { fields: { thinking: { type: 'adaptive' } } },
      ],
      [
        adaptive('never', true),
        effort('xhigh'),
        { fields: { thinking: { type: 'adaptive', display: 'summarized' } }, effort: 'xhigh' },
      ],
      [
        adaptive('out'),
        { reasoning: { max_tokens: 5_000 } },
        { fields: { thinking: { type: 'adaptive' } }, dropped: ['reasoning.max_tokens'] },
      ],
      [adaptive('out'), effort('none'), { fields: {} }],
      [adaptive('disabled'), effort('none'), { fields: { thinking: { type: 'disabled' } } }],
      [adaptive('never'), effort('none'), { fields: {}, effort: 'low', dropped: ['reasoning'] }],
    ])('encodes for %j the options %j as %j', (style, options, made) => {
      expect(reason(style, options)).toEqual({ dropped: [], ...made });
    });

    it('drops and reports sampling controls while a model thinks', () => {
      const fields = { ...effort('low'), temperature: 0.5, top_p: 0.9, top_k: 3, stop: 'END' };
      expect(controls(fields, { reasoning: { kind: 'budget' } })).toMatchObject({
        config: { maxTokens: MAX_TOKENS, stopSequences: ['END'] },
        dropped: ['temperature', 'top_p', 'top_k'],
      });
    });

    it.each([
      ['without the reasoning before it', {}, ['reasoning']],
      ['with them', { reasoning_details: [{ text: 'Hm', signature: 'maker:sig' }] }, []],
      [
        "with another maker's",
        { reasoning_details: [{ text: 'Hm', signature: 'x:s' }] },
        ['reasoning'],
      ],
    ])('applies a budget after a tool call %s', (_what, details, dropped) => {
      const messages = [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
          ...details,
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ];
      const made = controls({ ...effort('low'), messages });
      expect(made.dropped).toEqual(dropped);
      expect('thinking' in made.fields).toBe(dropped.length === 0);
      const later = [...messages, { role: 'user', content: 'And now?' }];
      expect(controls({ ...effort('low'), messages: later }).dropped).toEqual([]);
      const free = { reasoning: adaptive('out') };
      expect(controls({ ...effort('low'), messages }, free).dropped).toEqual([]);
    });
  });
});
