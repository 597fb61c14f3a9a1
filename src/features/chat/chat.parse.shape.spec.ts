import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { parseChat, wantsUsageChunk } from './chat.parse.js';
import { messages, refusalOf, refused } from '../../../test/support/chat-refusals.js';

describe(`${parseChat.name} with unusual bodies`, () => {
  describe('shape', () => {
    it.each<[string, unknown[]]>([
      ['model', [1, true, {}, [], 'x'.repeat(257)]],
      ['models', [1, 'a/b', {}, Array(33).fill('a/b')]],
      ['models.0', [[1], [null], [''], ['x'.repeat(257)]]],
      ['messages', [1, 'Hi', {}, []]],
      ['messages.0', [['Hi'], [null], [[]]]],
      ['messages.0.role', [[{ content: 'x' }], [{ role: 'robot', content: 'x' }], [{ role: 1 }]]],
      ['messages.0.content', [[{ role: 'user', content: 1 }], [{ role: 'user', content: {} }]]],
      ['messages.0.content.0', [[{ role: 'user', content: ['x'] }]]],
      ['messages.0.name', [[{ role: 'user', content: 'x', name: 1 }]]],
      ['messages.0.tool_calls', [[{ role: 'assistant', tool_calls: {} }]]],
      ['messages.0.tool_calls.0', [[{ role: 'assistant', tool_calls: [1] }]]],
      ['messages.0.tool_call_id', [[{ role: 'tool', content: 'x', tool_call_id: 1 }]]],
      ['stream', [1, 'true', {}]],
      ['stream_options', [true, 'x', []]],
      ['stream_options.include_usage', [{ include_usage: 1 }]],
      ['temperature', ['1', true, {}]],
      ['top_p', ['1', []]],
      ['n', [0, 129, 1.5, '1', -1]],
      ['max_tokens', [0, -1, 1.5, '10', 2 ** 31]],
      ['max_completion_tokens', [0, -1, 1.5, '10', 2 ** 31]],
      ['tools', [{}, 'x']],
      ['tools.0', [[1], ['x']]],
      ['tools.0.type', [[{}], [{ type: 1 }]]],
      ['tools.0.function', [[{ type: 'function', function: 'f' }]]],
      [
        'tools.0.function.name',
        [
          [{ type: 'function', function: {} }],
          [{ type: 'function', function: { name: '' } }],
          [{ type: 'function', function: { name: 1 } }],
        ],
      ],
      [
        'tools.0.function.parameters',
        [[{ type: 'function', function: { name: 'f', parameters: 'x' } }]],
      ],
      ['tool_choice', [1, true, []]],
      [
        'tool_choice.function.name',
        [
          { type: 'function', function: {} },
          { type: 'function', function: { name: 1 } },
        ],
      ],
      ['parallel_tool_calls', [1, 'true']],
      ['response_format', ['json_object', []]],
      ['response_format.type', [{}, { type: 1 }]],
      ['response_format.json_schema', [{ type: 'json_schema', json_schema: 'x' }]],
      ['reasoning', ['high', 1]],
      ['reasoning.effort', [{ effort: 1 }]],
      ['reasoning.max_tokens', [{ max_tokens: '1' }, { max_tokens: -1 }]],
      ['reasoning_effort', [1, {}]],
      ['logprobs', [1, 'true']],
      ['top_logprobs', [-1, 21, 1.5, '1']],
      ['logit_bias', [1, 'x', []]],
      ['logit_bias.50256', [{ 50256: '1' }]],
      ['stop', [1, {}, Array(17).fill('x')]],
      ['stop.1', [['x', 1]]],
      ['frequency_penalty', ['1', {}]],
      ['presence_penalty', ['1', {}]],
      ['seed', [1.5, '1']],
      ['user', [1, {}]],
      ['metadata', ['x', []]],
      ['trace', ['x', []]],
      ['provider', ['openai', []]],
      ['provider.allow_fallbacks', [{ allow_fallbacks: 'no' }]],
      ['provider.order', [{ order: 'openai' }, { order: Array(65).fill('a') }]],
      ['provider.order.0', [{ order: [1] }]],
      ['provider.only', [{ only: 'openai' }]],
      ['provider.only.1', [{ only: ['a', null] }]],
      ['provider.ignore', [{ ignore: {} }]],
      ['provider.ignore.0', [{ ignore: [{}] }]],
      ['route', ['cheapest', 1, '']],
    ])('rejects invalid values of %s and names it', (param, values) => {
      const [field = ''] = param.split('.');
      for (const value of values) {
        expect(refusalOf({ model: 'a/b', messages, [field]: value })).toEqual(refused(param));
      }
    });

    it.each(['temperature', 'top_p', 'seed', 'max_tokens', 'n'])(
      'rejects an out-of-range number for %s',
      (field) => {
        const text = `{"model":"a/b","messages":[{"role":"user","content":"x"}],"${field}":1e999}`;
        expect(refusalOf(text)).toEqual(refused(field));
      },
    );

    it('treats null as "not set", as SDKs send it', () => {
      const fields =
        'models input stream stream_options temperature top_p n max_tokens max_completion_tokens ' +
        'tools tool_choice parallel_tool_calls response_format reasoning reasoning_effort logprobs ' +
        'top_logprobs logit_bias stop frequency_penalty presence_penalty seed user metadata trace ' +
        'provider route store service_tier web_search_options audio modalities functions';
      const nulls = Object.fromEntries(fields.split(' ').map((field) => [field, null]));
      expect(chatRequest(nulls)).toMatchObject({
        models: ['openai/gpt-4o'],
        choices: 1,
        stream: false,
        maxOutputTokens: undefined,
        accountBoundParam: undefined,
        routing: { order: [], only: undefined, ignore: [], allowFallbacks: true },
      });
      expect(chatRequest(nulls).prompt()).toMatchObject({ tools: [], sampling: {} });
    });

    it('treats null in nested objects as "not set"', () => {
      const request = chatRequest({
        models: null,
        stream_options: { include_usage: null },
        reasoning: { effort: null, max_tokens: null },
        provider: { allow_fallbacks: null, order: null, only: null, ignore: null },
        tools: [
          {
            type: 'function',
            function: { name: 'f', description: null, parameters: null, strict: null },
          },
        ],
        response_format: { type: 'text', json_schema: null },
        messages: [
          { role: 'user', content: 'Hi', name: null },
          // An answer of the OpenAI SDK, sent back unchanged.
          {
            role: 'assistant',
            content: null,
            refusal: null,
            audio: null,
            function_call: null,
            annotations: [],
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'done' },
          { role: 'assistant', content: 'Well.', tool_calls: null, tool_call_id: null },
        ],
      });
      expect(request.routing).toMatchObject({ allowFallbacks: true, only: undefined });
      expect(wantsUsageChunk(request)).toBe(false);
      expect(request.prompt().messages).toHaveLength(4);
    });

    it('accepts unknown fields', () => {
      const request = chatRequest({ min_p: 0.1, guided_json: {}, extra: [1] });
      expect(request.body.value).toMatchObject({ min_p: 0.1, extra: [1] });
    });
  });
});
