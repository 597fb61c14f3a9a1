import { describe, expect, it } from '@jest/globals';
import { chatRequest, jsonBody } from '../../../../test/support/chat-requests.js';
import { parseChat } from '../../../features/chat/chat.parse.js';
import {
  encodeChatPrompt,
  encodeChatRequest,
  toReasoningEffort,
  withoutForeignReasoning,
} from './encode-chat-request.js';
import type { ReasoningControl } from '../../../canonical/canonical-request.js';

const encode = (fields: Record<string, unknown>, model = 'gpt-4o'): Record<string, unknown> => {
  const bytes = encodeChatRequest(
    { request: chatRequest(fields), upstreamModel: model },
    'max_tokens',
  );
  return JSON.parse(bytes.toString()) as Record<string, unknown>;
};
const messages = [{ role: 'user', content: 'Hi' }];

describe(encodeChatRequest.name, () => {
  it('leaves all bytes but the model unchanged', () => {
    const text =
      '{"mod\\u0065l" : "openai/gpt-4o","messages":[ {"role":"user","content":"\\u0041 größe \\ud800"} ],' +
      '"temperature":1.0,"seed":12345678901234567890,"x" : {"provider":1,"model":"y"}}';
    expect(
      encodeChatRequest(
        { request: parseChat(jsonBody(text)), upstreamModel: 'gpt-4o' },
        'max_tokens',
      ).toString(),
    ).toBe(text.replace('"openai/gpt-4o"', '"gpt-4o"'));
  });

  it.each(['max_tokens', 'max_completion_tokens'] as const)(
    "sends the gateway's own limit as %s, also in place of null",
    (field) => {
      for (const fields of [{}, { [field]: null }]) {
        const call = { request: chatRequest(fields), upstreamModel: 'm', ownOutputLimit: 4_096 };
        const body = JSON.parse(encodeChatRequest(call, field).toString()) as unknown;
        expect(body).toEqual({ model: 'm', messages, [field]: 4_096 });
      }
    },
  );

  it.each(['max_tokens', 'max_completion_tokens'] as const)(
    "sends the gateway's own limit as %s in place of the caller's limits",
    (field) => {
      const fields = { max_tokens: 9_000, max_completion_tokens: 8_000, max_cost: 5 };
      const request = chatRequest({ ...fields, max_cost_mode: 'fit' });
      const call = { request, upstreamModel: 'm', ownOutputLimit: 70 };
      const body = JSON.parse(encodeChatRequest(call, field).toString()) as unknown;
      expect(body).toEqual({ model: 'm', messages, [field]: 70 });
    },
  );

  it("drops a prediction, which OpenAI rejects together with the gateway's own limit", () => {
    const prediction = { type: 'content', content: 'a' };
    const encode = (field: 'max_tokens' | 'max_completion_tokens', ownOutputLimit?: number) => {
      const call = { request: chatRequest({ prediction }), upstreamModel: 'm', ownOutputLimit };
      return JSON.parse(encodeChatRequest(call, field).toString()) as unknown;
    };
    expect(encode('max_completion_tokens', 70)).toEqual({
      model: 'm',
      messages,
      max_completion_tokens: 70,
    });
    expect(encode('max_completion_tokens')).toMatchObject({ prediction });
    expect(encode('max_tokens', 70)).toMatchObject({ prediction, max_tokens: 70 });
  });

  it.each(['gpt-4o', 'a"b', '$&', 'größe'])('encodes the model %j as JSON', (model) => {
    expect(encode({}, model)).toEqual({ model, messages });
  });

  it('adds the model when only a list of models was given', () => {
    expect(encode({ model: undefined, models: ['a/b', 'c/d'] })).toEqual({
      model: 'gpt-4o',
      messages,
    });
  });

  it.each([
    ['prefix', { prefix: true }, {}],
    ['partial', { partial: true }, {}],
    ['continue_final_message', {}, { continue_final_message: true, add_generation_prompt: false }],
    ['plain', {}, {}],
  ] as const)(
    'makes a server continue the last message by %s, in either dialect',
    (prefill, mark, fields) => {
      const said = { role: 'assistant', content: 'The quick' };
      const request = { ...chatRequest({ messages: [...messages, said] }), isPrefilled: true };
      const call = { request, upstreamModel: 'm' };
      const expected = { model: 'm', messages: [...messages, { ...said, ...mark }], ...fields };
      const read = (bytes: Buffer): unknown => JSON.parse(bytes.toString());
      // The gateway adds these fields itself, so the allowlist for callers does not apply.
      const traits = { prefill, knownFieldsOnly: true };
      expect(read(encodeChatRequest(call, 'max_tokens', traits))).toEqual(expected);
      expect(read(encodeChatPrompt(call, 'max_tokens', true, prefill))).toEqual(expected);
      const own = { ...call, request: { ...request, isPrefilled: false } };
      expect(read(encodeChatRequest(own, 'max_tokens', traits))).toEqual({
        model: 'm',
        messages: [...messages, said],
      });
    },
  );

  it("removes the gateway's own fields and those of other gateways", () => {
    expect(
      encode({
        models: ['a/b'],
        provider: { order: ['openai'] },
        route: 'sort',
        trace: { trace_name: 'x' },
        transforms: ['middle-out'],
        plugins: [{ id: 'web' }],
        usage: { include: true },
        reasoning: { max_tokens: 5 },
        input: null,
        user: 'ann',
        top_k: 5,
      }),
    ).toEqual({ model: 'gpt-4o', messages, user: 'ann', top_k: 5 });
  });

  it('removes them in any notation and when repeated', () => {
    const text = `{"model":"x/y","model":"a/b","pr\\u006fvider":{},"route":"sort","route":"fallback","messages":${JSON.stringify(messages)}}`;
    const bytes = encodeChatRequest(
      { request: parseChat(jsonBody(text)), upstreamModel: 'gpt-4o' },
      'max_tokens',
    );
    expect(JSON.parse(bytes.toString())).toEqual({ model: 'gpt-4o', messages });
    expect(bytes.toString()).not.toMatch(/x\/y|route|vider/);
  });

  it.each<[object, object]>([
    [{ reasoning: { effort: 'low' } }, { reasoning_effort: 'low' }],
    [{ reasoning: { effort: 'low' }, reasoning_effort: null }, { reasoning_effort: 'low' }],
    [{ reasoning: { effort: 'low' }, reasoning_effort: 'high' }, { reasoning_effort: 'high' }],
    [{ reasoning: { effort: null } }, {}],
    [{ reasoning: null }, {}],
    [{ reasoning_effort: 'minimal' }, { reasoning_effort: 'minimal' }],
    [{ store: true }, { store: false }],
    [{ store: false }, { store: false }],
    [{ store: null }, { store: null }],
    [{ stream: false }, { stream: false }],
    [{ stream: true }, { stream: true, stream_options: { include_usage: true } }],
    [
      { stream: true, stream_options: null },
      { stream: true, stream_options: { include_usage: true } },
    ],
    [
      { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
    ],
    [
      { max_tokens: 5, n: 2 },
      { max_tokens: 5, n: 2 },
    ],
  ])('sends %j as %j', (fields, expected) => {
    expect(encode({ ...fields })).toEqual({ model: 'gpt-4o', messages, ...expected });
  });

  it('sends translated input as messages', () => {
    expect(encode({ messages: undefined, input: 'Hi' })).toEqual({ model: 'gpt-4o', messages });
  });

  it('does not change the received body', () => {
    const request = chatRequest({ stream: true, provider: {} });
    const before = Buffer.from(request.body.bytes);
    encodeChatRequest({ request, upstreamModel: 'one' }, 'max_tokens');
    const second = encodeChatRequest({ request, upstreamModel: 'two' }, 'max_tokens').toString();
    expect(request.body.bytes).toEqual(before);
    expect(second).toContain('"two"');
  });
});

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
  ])('maps %j to the effort %j', (control, effort) => {
    expect(toReasoningEffort(control)).toBe(effort);
  });
});

const QUESTION = { role: 'user', content: 'Hi' };

describe('withoutForeignReasoning', () => {
  it("removes another vendor's signed reasoning and the text next to it", () => {
    const signed = {
      role: 'assistant',
      content: 'Yes.',
      reasoning_content: 'Hm.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm.', signature: 'anthropic:c2VhbA==' },
        { type: 'reasoning.encrypted', data: 'bedrock-nova-redacted:c2VhbA==' },
        { type: 'reasoning.encrypted', id: 'call_1', data: 'google:c2VhbA==' },
      ],
    };
    expect(withoutForeignReasoning([QUESTION, signed])).toEqual([
      QUESTION,
      { role: 'assistant', content: 'Yes.' },
    ]);
  });

  it('keeps details from a vendor of this dialect', () => {
    const own = { type: 'reasoning.text', text: 'Hm.', signature: 'c2VhbA==' };
    const named = { type: 'reasoning.text', text: 'Hm.', signature: 'google:c2VhbA==' };
    const message = { role: 'assistant', content: 'Yes.', reasoning_details: [own, named] };
    expect(withoutForeignReasoning([message])).toEqual([{ ...message, reasoning_details: [own] }]);
  });

  it.each([
    ['no reasoning', [QUESTION]],
    ['a text alone', [{ role: 'assistant', content: 'Yes.', reasoning_content: 'google: it' }]],
    ['an own signature', [{ role: 'assistant', reasoning_details: [{ signature: 'c2VhbA==' }] }]],
    ['invalid details', [{ role: 'assistant', reasoning_details: [null, 'google:x', {}] }]],
    ['details of another type', [{ role: 'assistant', reasoning_details: 'google:x' }]],
    ['no messages', undefined],
  ])('returns undefined for %s', (_what, messages) => {
    expect(withoutForeignReasoning(messages)).toBeUndefined();
  });
});
