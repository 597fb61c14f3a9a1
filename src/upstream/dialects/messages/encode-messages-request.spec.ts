import { describe, expect, it } from '@jest/globals';
import { promptRequest, says } from '../../../../test/support/prompt-requests.js';
import type {
  CanonicalPrompt,
  CanonicalRequest,
  MessagePart,
  ToolDefinition,
} from '../../../canonical/canonical-request.js';
import { droppedFromMessages, encodeMessagesRequest } from './encode-messages-request.js';
import type { MessagesModelTraits } from './messages-vendor.js';

/** A model that takes everything the dialect has, with thinking by budget. */
const BUDGET: MessagesModelTraits = {
  sampling: true,
  temperatureWithTopP: false,
  thinking: 'budget',
  thinksByDefault: false,
  thinkingOff: 'disabled',
  efforts: [],
  forcedToolChoice: true,
  prefill: true,
  structuredOutput: true,
};
const ADAPTIVE: MessagesModelTraits = {
  ...BUDGET,
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'max'],
};
const NEWEST: MessagesModelTraits = {
  ...ADAPTIVE,
  sampling: false,
  thinksByDefault: true,
  forcedToolChoice: false,
  prefill: false,
};

interface Options {
  traits?: MessagesModelTraits;
  maxOutputTokens?: number;
  request?: Partial<CanonicalRequest>;
}

function encode(
  prompt: Partial<CanonicalPrompt> = {},
  { traits = BUDGET, maxOutputTokens = 4_000, request = {} }: Options = {},
) {
  const call = { request: promptRequest(prompt, request), maxOutputTokens };
  const vendor = { sealMaker: 'maker', traits };
  const { body, jsonTool } = encodeMessagesRequest(call, vendor);
  return { body, jsonTool, dropped: droppedFromMessages(call, vendor) };
}

const refusal = (param: string, failure = 'unsupported') =>
  expect.objectContaining({ failure, param });

const tool = (fields: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: 'look',
  ...fields,
});
const call: MessagePart = { type: 'tool_call', id: '1', name: 'look', arguments: '{}' };
const result: MessagePart = { type: 'tool_result', toolCallId: '1', parts: [] };

describe(encodeMessagesRequest.name, () => {
  it('sends no more than the conversation when nothing else was said', () => {
    expect(encode()).toEqual({
      body: {
        max_tokens: 4_000,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      },
      jsonTool: undefined,
      dropped: [],
    });
  });

  it('refuses to give several answers', () => {
    expect(() => encode({}, { request: { choices: 2 } })).toThrow(refusal('n'));
  });

  it('continues a turn of the assistant only on models that can', () => {
    const messages = [says('user', 'a'), says('assistant', 'b')];
    expect(encode({ messages }).body.messages).toHaveLength(2);
    expect(() => encode({ messages }, { traits: NEWEST })).toThrow(refusal('messages'));
  });

  it('keeps system blocks and their cache control', () => {
    const part = { type: 'text', text: 'Be brief.', cacheControl: { ttl: '1h' } } as const;
    expect(encode({ messages: [says('system', part), says('user', 'Hi')] }).body.system).toEqual([
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
  });

  it.each<[string, string]>([
    ['user-1234', 'user-1234'],
    ['6f1c9d4e-0000-4000-8000-000000000000', '6f1c9d4e-0000-4000-8000-000000000000'],
  ])('passes the end user %s', (endUser, user_id) => {
    expect(encode({ endUser }).body.metadata).toEqual({ user_id });
  });

  it.each(['a@b.example', '+49 30 1234567', '0301234567', 'Ada Lovelace', 'x'.repeat(300)])(
    'tells nobody who the end user %s is',
    (endUser) => {
      const { user_id } = encode({ endUser }).body.metadata as { user_id: string };
      expect(user_id).toMatch(/^user_[\w-]{32}$/);
      expect(encode({ endUser }).body.metadata).toEqual({ user_id });
    },
  );

  describe('sampling', () => {
    it.each<[Partial<CanonicalPrompt['sampling']>, object, string[]]>([
      [{ temperature: 0 }, { temperature: 0 }, []],
      [{ temperature: 0.7, topK: 5 }, { temperature: 0.7, top_k: 5 }, []],
      [{ temperature: 1 }, {}, []],
      [{ temperature: 1.5 }, {}, ['temperature']],
      [{ topP: 0.5 }, { top_p: 0.5 }, []],
      [{ temperature: 0.2, topP: 0.5 }, { temperature: 0.2 }, ['top_p']],
      [{ temperature: 0.2, topP: 1 }, { temperature: 0.2 }, []],
      [{ temperature: 1, topP: 0.5 }, { top_p: 0.5 }, []],
      [{ stop: ['a', '', ' b'] }, { stop_sequences: ['a', ' b'] }, []],
      [{ stop: [''] }, {}, []],
      [
        { seed: 1, presencePenalty: 1, logitBias: {}, logprobs: true },
        {},
        ['presence_penalty', 'seed', 'logit_bias', 'logprobs'],
      ],
    ])('%j becomes %j, without %j', (sampling, fields, dropped) => {
      const encoded = encode({ sampling });
      const { max_tokens: _tokens, messages: _messages, ...rest } = encoded.body;
      expect(rest).toEqual(fields);
      expect(encoded.dropped).toEqual(dropped);
    });

    it.each(['\n', ' ', '\t\n'])('refuses to stop at %j', (stop) => {
      expect(() => encode({ sampling: { stop: ['a', stop] } })).toThrow(refusal('stop'));
    });

    it('goes to no model that refuses it', () => {
      const sampling = { temperature: 0.5, topP: 0.5, topK: 5 };
      const { body, dropped } = encode({ sampling }, { traits: NEWEST });
      expect(Object.keys(body)).toEqual(['max_tokens', 'messages']);
      expect(dropped).toEqual(['temperature', 'top_p', 'top_k']);
      const neutral = encode({ sampling: { temperature: 1, topP: 1 } }, { traits: NEWEST });
      expect(neutral.dropped).toEqual([]);
    });

    it('yields to thinking', () => {
      const reasoning = { effort: 'high' };
      const sampling = { temperature: 0.5, topP: 0.5, topK: 5 };
      const { body, dropped } = encode({ reasoning, sampling }, { traits: ADAPTIVE });
      expect(Object.keys(body)).toEqual(['max_tokens', 'messages', 'thinking', 'output_config']);
      expect(dropped).toEqual(['temperature', 'top_p', 'top_k']);
      expect(encode({ reasoning, sampling: { topP: 0.95 } }).body.top_p).toBe(0.95);
    });
  });

  describe('thinking', () => {
    const budget = (budget_tokens: number) => ({ type: 'enabled', budget_tokens });

    it.each<[CanonicalPrompt['reasoning'], number, object | undefined, string[]]>([
      [{ effort: 'low' }, 10_000, budget(2_000), []],
      [{ effort: 'high' }, 10_000, budget(8_000), []],
      [{ enabled: true }, 10_000, budget(5_000), []],
      [{ effort: 'minimal' }, 4_000, budget(1_024), []],
      [{ effort: 'minimal' }, 2_000, undefined, ['reasoning']],
      [{ maxTokens: 3_000 }, 4_000, budget(3_000), []],
      [{ maxTokens: 9_000 }, 4_000, budget(3_999), []],
      [{ maxTokens: 9_000 }, 1_024, undefined, ['reasoning.max_tokens']],
      [{ maxTokens: 500 }, 4_000, undefined, ['reasoning.max_tokens']],
      [{ maxTokens: 500, effort: 'medium' }, 4_000, budget(2_000), ['reasoning.max_tokens']],
      [{ effort: 'none' }, 4_000, undefined, []],
      [{ enabled: false }, 4_000, undefined, []],
      [{ maxTokens: 0 }, 4_000, undefined, []],
    ])('%j of %d tokens is the budget %j', (reasoning, maxOutputTokens, thinking, dropped) => {
      const encoded = encode({ reasoning }, { maxOutputTokens });
      expect(encoded.body.thinking).toEqual(thinking);
      expect(encoded.dropped).toEqual(dropped);
    });

    it('always leaves a budget below `max_tokens`', () => {
      for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']) {
        for (const maxOutputTokens of [1, 1_024, 1_025, 1_500, 2_048, 5_000, 64_000]) {
          const { thinking } = encode({ reasoning: { effort } }, { maxOutputTokens }).body;
          if (thinking === undefined) continue;
          const { budget_tokens } = thinking as { budget_tokens: number };
          expect(budget_tokens).toBeGreaterThanOrEqual(1_024);
          expect(budget_tokens).toBeLessThan(maxOutputTokens);
        }
      }
    });

    it.each<[CanonicalPrompt['reasoning'], string | undefined, string[]]>([
      [{ effort: 'minimal' }, 'low', []],
      [{ effort: 'medium' }, 'medium', []],
      [{ effort: 'xhigh' }, 'high', []],
      [{ effort: 'max' }, 'max', []],
      [{ enabled: true }, undefined, []],
      [{ maxTokens: 5_000 }, undefined, ['reasoning.max_tokens']],
    ])('%j is the effort %j where models have no budget', (reasoning, effort, dropped) => {
      const encoded = encode({ reasoning }, { traits: ADAPTIVE });
      expect(encoded.body.thinking).toEqual({ type: 'adaptive', display: 'summarized' });
      expect(encoded.body.output_config).toEqual(effort === undefined ? undefined : { effort });
      expect(encoded.dropped).toEqual(dropped);
    });

    it('is turned off by the word that the model has for it', () => {
      const off = (traits: MessagesModelTraits) => {
        const { body, dropped } = encode({ reasoning: { effort: 'none' } }, { traits });
        return { thinking: body.thinking, config: body.output_config, dropped };
      };
      const none = { thinking: undefined, config: undefined, dropped: [] };
      expect(off(ADAPTIVE)).toEqual(none);
      expect(off(NEWEST)).toEqual({ ...none, thinking: { type: 'disabled' } });
      expect(off({ ...NEWEST, thinkingOff: 'between_tools' })).toEqual({
        ...none,
        thinking: { type: 'between_tools' },
      });
      expect(off({ ...NEWEST, thinkingOff: undefined })).toEqual({
        thinking: undefined,
        config: { effort: 'low' },
        dropped: ['reasoning'],
      });
    });

    it('is left out of models that cannot think, and named', () => {
      const { body, dropped } = encode(
        { reasoning: { effort: 'low' } },
        { traits: { ...BUDGET, thinking: 'none' } },
      );
      expect(body.thinking).toBeUndefined();
      expect(dropped).toEqual(['reasoning']);
    });

    it('of an unknown effort is refused', () => {
      expect(() => encode({ reasoning: { effort: 'heroic' } })).toThrow(refusal('reasoning'));
    });

    it('does not go with a call that is demanded', () => {
      const { body, dropped } = encode({
        reasoning: { effort: 'high' },
        tools: [tool()],
        toolChoice: 'required',
      });
      expect(body.thinking).toBeUndefined();
      expect(dropped).toEqual(['reasoning']);
    });

    const thought: MessagePart = { type: 'reasoning', text: 'hm', seal: 'maker:c2ln' };
    const foreign: MessagePart = { type: 'reasoning', text: 'hm', seal: 'other:c2ln' };
    it.each<[string, CanonicalPrompt['messages'], boolean]>([
      ['a new question', [says('assistant', 'a'), says('user', 'b')], true],
      ['a call with its thought', [says('assistant', thought, call), says('tool', result)], true],
      [
        'a later call of a turn with its thought',
        [
          says('user', 'a'),
          says('assistant', thought, call),
          says('tool', result),
          says('assistant', call),
          says('tool', result),
        ],
        true,
      ],
      ['a call without it', [says('assistant', call), says('tool', result)], false],
      ['a foreign thought', [says('assistant', foreign, call), says('tool', result)], false],
      [
        'results and a word of the user',
        [says('assistant', call), says('tool', result), says('user', 'b')],
        false,
      ],
      ['a beginning', [says('user', 'a'), says('assistant', 'b')], false],
    ])('with a budget, after %s, is asked for: %#', (_, messages, isAsked) => {
      const { body, dropped } = encode({ messages, reasoning: { effort: 'high' } });
      expect(body.thinking !== undefined).toBe(isAsked);
      expect(dropped).toEqual(isAsked ? [] : ['reasoning']);
    });
  });

  describe('tools', () => {
    it('are spelled in the vendor’s way', () => {
      const parameters = { type: 'object', properties: { a: { type: 'string' } } };
      const tools = [
        tool({ description: 'Looks.', parameters, cacheControl: { ttl: '5m' } }),
        tool({ name: 'bare' }),
        tool({ name: 'loose', parameters: { properties: {} } }),
        tool({ name: 'strict', parameters, strict: true }),
        tool({ name: 'open', parameters: { type: 'object' }, strict: true }),
      ];
      const { body, dropped } = encode({ tools });
      expect(body.tools).toEqual([
        {
          name: 'look',
          description: 'Looks.',
          input_schema: parameters,
          cache_control: { type: 'ephemeral' },
        },
        { name: 'bare', input_schema: { type: 'object', properties: {} } },
        { name: 'loose', input_schema: { type: 'object', properties: {} } },
        {
          name: 'strict',
          input_schema: { ...parameters, additionalProperties: false },
          strict: true,
        },
        { name: 'open', input_schema: { type: 'object' } },
      ]);
      expect(dropped).toEqual(['tools.strict']);
    });

    it.each<[CanonicalPrompt['toolChoice'], boolean | undefined, object | undefined]>([
      [undefined, undefined, undefined],
      [undefined, true, undefined],
      [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
      ['auto', undefined, { type: 'auto' }],
      ['auto', false, { type: 'auto', disable_parallel_tool_use: true }],
      ['none', false, { type: 'none' }],
      ['required', undefined, { type: 'any' }],
      ['required', false, { type: 'any', disable_parallel_tool_use: true }],
      [{ name: 'look' }, undefined, { type: 'tool', name: 'look' }],
      [{ name: 'look' }, false, { type: 'tool', name: 'look', disable_parallel_tool_use: true }],
    ])('choice %j with parallel calls %j is %j', (toolChoice, parallelToolCalls, spelled) => {
      const { body, dropped } = encode({ tools: [tool()], toolChoice, parallelToolCalls });
      expect(body.tool_choice).toEqual(spelled);
      expect(dropped).toEqual([]);
    });

    it('without any, a choice says nothing, but for one that demands a call', () => {
      for (const toolChoice of ['auto', 'none'] as const) {
        expect(encode({ toolChoice, parallelToolCalls: false }).body).not.toHaveProperty(
          'tool_choice',
        );
      }
      expect(() => encode({ toolChoice: 'required' })).toThrow(refusal('tool_choice', 'caller'));
    });

    it('cannot be demanded of models that refuse it', () => {
      const toolChoice = { name: 'look' };
      expect(() => encode({ tools: [tool()], toolChoice }, { traits: NEWEST })).toThrow(
        refusal('tool_choice'),
      );
    });

    it('that were called before are named, though none may be called now', () => {
      const messages = [says('user', 'a'), says('assistant', call, call), says('tool', result)];
      expect(encode({ messages }).body).toMatchObject({
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
        tool_choice: { type: 'none' },
      });
    });
  });

  describe('JSON', () => {
    const closed = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const schema = (value: Record<string, unknown>) =>
      ({ type: 'json_schema', name: 'x', schema: value }) as const;

    it('of a schema is asked for in the vendor’s own words', () => {
      const { body, jsonTool } = encode({ responseFormat: schema(closed) });
      expect(body.output_config).toEqual({ format: { type: 'json_schema', schema: closed } });
      expect(jsonTool).toBeUndefined();
    });

    it('and an effort share one member', () => {
      const reasoning = { effort: 'low' };
      const prompt = { responseFormat: schema(closed), reasoning };
      expect(encode(prompt, { traits: ADAPTIVE }).body.output_config).toEqual({
        effort: 'low',
        format: { type: 'json_schema', schema: closed },
      });
    });

    it.each<[string, CanonicalPrompt['responseFormat'], MessagesModelTraits, object]>([
      ['no schema', { type: 'json_object' }, BUDGET, { type: 'object' }],
      ['an open schema', schema({ type: 'object' }), BUDGET, { type: 'object' }],
      [
        'a schema, from a model without the words',
        schema(closed),
        { ...BUDGET, structuredOutput: false },
        closed,
      ],
    ])('of %s is the arguments of a tool', (_, responseFormat, traits, input_schema) => {
      const { body, jsonTool } = encode({ responseFormat }, { traits });
      expect(jsonTool).toBe('json_answer');
      expect(body.tools).toMatchObject([{ name: jsonTool, input_schema }]);
      expect(body.tool_choice).toEqual({
        type: 'tool',
        name: jsonTool,
        disable_parallel_tool_use: true,
      });
    });

    it('leaves the model the choice between an answer and the caller’s tools', () => {
      const tools = [tool(), tool({ name: 'json_answer' })];
      const { body, jsonTool } = encode({ tools, responseFormat: { type: 'json_object' } });
      expect(jsonTool).toBe('json_answer_');
      expect(body.tool_choice).toEqual({ type: 'any' });
      expect(body.tools).toHaveLength(3);
      const none = encode({ tools, toolChoice: 'none', responseFormat: { type: 'json_object' } });
      expect(none.body.tool_choice).toMatchObject({ type: 'tool', name: jsonTool });
    });

    it('is no matter where a call is demanded', () => {
      const responseFormat = { type: 'json_object' } as const;
      const { body, jsonTool } = encode({
        tools: [tool()],
        toolChoice: 'required',
        responseFormat,
      });
      expect(jsonTool).toBeUndefined();
      expect(body.tools).toHaveLength(1);
    });

    it.each<[string, CanonicalPrompt['responseFormat'], MessagesModelTraits]>([
      ['without a schema', { type: 'json_object' }, NEWEST],
      ['of an open schema', schema({ type: 'object' }), NEWEST],
      ['that is no object', schema({ anyOf: [{}] }), BUDGET],
    ])('%s is left to the next vendor where the model cannot', (_, responseFormat, traits) => {
      expect(() => encode({ responseFormat }, { traits })).toThrow(refusal('response_format'));
    });

    it('is nothing for plain text', () => {
      expect(encode({ responseFormat: { type: 'text' } }).body).not.toHaveProperty('output_config');
    });
  });

  describe('what is dropped', () => {
    it('has the caller’s own names', () => {
      const sampling = { seed: 1, temperature: 2 };
      const { dropped } = encode({ sampling }, { request: { dialect: 'responses' } });
      expect(dropped).toEqual(['seed', 'temperature']);
    });

    it('includes parts of messages', () => {
      const image: MessagePart = {
        type: 'image',
        detail: 'high',
        source: { kind: 'url', url: 'https://a.example/b' },
      };
      const messages = [{ ...says('user', 'a', image), name: 'Ada' }];
      expect(encode({ messages }).dropped).toEqual(['messages.name', 'messages.image_url.detail']);
    });

    it('is fit for a header, whatever the caller made up', () => {
      const leftOver = ['verbosity', 'a\r\nset-cookie: b', '日本', ''];
      expect(encode({ leftOver }).dropped).toEqual(['verbosity', 'unknown']);
      const many = Array.from({ length: 1_000 }, (_, index) => `field_${index}`);
      expect(encode({ leftOver: many }).dropped.length).toBeLessThanOrEqual(50);
    });
  });
});
