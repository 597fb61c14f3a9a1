import { describe, expect, it } from '@jest/globals';
import { chatRequest, jsonBody } from '../../test/support/chat-requests.js';
import { parseChat, wantsUsageChunk } from './chat.parse.js';

const messages = [{ role: 'user', content: 'Hi' }];

/** The refusal of a body that is given whole. */
function refusalOf(body: unknown): unknown {
  try {
    parseChat(jsonBody(body));
    return undefined;
  } catch (error) {
    return error;
  }
}

const refused = (param: string, message?: string | RegExp) =>
  expect.objectContaining({
    status: 400,
    type: 'invalid_request_error',
    param,
    ...(message !== undefined && { message: expect.stringMatching(message) as unknown }),
  });

describe(parseChat.name, () => {
  it('reads the smallest body', () => {
    expect(chatRequest()).toMatchObject({
      dialect: 'chat',
      models: ['openai/gpt-4o'],
      stream: false,
      choices: 1,
      maxOutputTokens: undefined,
      accountBoundParam: undefined,
      routing: {
        order: [],
        only: undefined,
        ignore: [],
        allowFallbacks: true,
        strategy: 'fallback',
      },
      promptSize: { characters: 2, images: 0 },
    });
  });

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
    ])('refuses wrong values of %s, naming it', (param, values) => {
      const [field = ''] = param.split('.');
      for (const value of values) {
        expect(refusalOf({ model: 'a/b', messages, [field]: value })).toEqual(refused(param));
      }
    });

    it.each(['temperature', 'top_p', 'seed', 'max_tokens', 'n'])(
      'refuses a number for %s that no number holds',
      (field) => {
        const text = `{"model":"a/b","messages":[{"role":"user","content":"x"}],"${field}":1e999}`;
        expect(refusalOf(text)).toEqual(refused(field));
      },
    );

    it('takes null wherever SDKs send it for "not set"', () => {
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

    it('takes null inside of objects as well', () => {
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
          // An answer of the OpenAI SDK, sent back as it came.
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

    it('lets fields pass that it does not know', () => {
      const request = chatRequest({ min_p: 0.1, guided_json: {}, extra: [1] });
      expect(request.body.value).toMatchObject({ min_p: 0.1, extra: [1] });
    });
  });

  describe('models', () => {
    it.each<[object, string[]]>([
      [{ model: 'a/b' }, ['a/b']],
      [{ models: ['a/b', 'c/d'] }, ['a/b', 'c/d']],
      [{ model: 'a/b', models: ['c/d', 'a/b', 'c/d', 'e/f'] }, ['a/b', 'c/d', 'e/f']],
      [{ model: 'a/b', models: [] }, ['a/b']],
      [{ model: null, models: ['a/b'] }, ['a/b']],
      [{ model: 'openai/ft:gpt-4o:org/x' }, ['openai/ft:gpt-4o:org/x']],
      [{ model: 'a/ b\n' }, ['a/ b\n']],
    ])('of %j are %j', (fields, models) => {
      expect(parseChat(jsonBody({ messages, ...fields })).models).toEqual(models);
    });

    it.each<[object, string, RegExp]>([
      [{}, 'model', /`model` is missing/],
      [{ model: null, models: null }, 'model', /`model` is missing/],
      [{ models: [] }, 'model', /`model` is missing/],
      [{ model: '' }, 'model', /"" is no model alias/],
      [{ model: 'gpt-4o' }, 'model', /"gpt-4o" is no model alias; write it as <provider>\/<model>/],
      [{ model: '/gpt-4o' }, 'model', /no model alias/],
      [{ model: 'openai/' }, 'model', /no model alias/],
      [{ model: 'a/b', models: ['c/d', 'gpt'] }, 'models.1', /"gpt"/],
      [{ models: ['gpt'] }, 'models.0', /"gpt"/],
      [{ model: 'a\u0000\ud800' }, 'model', /"a\\u0000\\ud800"/],
    ])('of %j are refused', (fields, param, message) => {
      expect(refusalOf({ messages, ...fields })).toEqual(refused(param, message));
    });
  });

  describe('messages or input', () => {
    it.each<[object, string, RegExp]>([
      [{}, 'messages', /`messages` is missing/],
      [{ messages: null, input: null }, 'messages', /missing/],
      [{ messages, input: 'Hi' }, 'input', /not both/],
      [{ messages: [], input: [] }, 'input', /not both/],
      [{ messages: [] }, 'messages', /at least one/],
      [{ input: [] }, 'input', /at least one/],
      [{ input: 1 }, 'input', /string or an array/],
      [{ input: ['x'] }, 'input.0', /an object/],
    ])('refuses %j', (fields, param, message) => {
      expect(refusalOf({ model: 'a/b', ...fields })).toEqual(refused(param, message));
    });

    it('turns input into messages and keeps the other bytes', () => {
      const text = '{"model":"a/b", "input" : "größe", "temperature":1.0}';
      const { body } = parseChat(jsonBody(text));
      expect(body.bytes.toString()).toBe(
        '{"model":"a/b","temperature":1.0,"messages":[{"role":"user","content":"größe"}]}',
      );
      expect(body.value).not.toHaveProperty('input');
      expect(body.members.map(({ key }) => key)).toEqual(['model', 'temperature', 'messages']);
    });
  });

  describe('what it reads', () => {
    it.each<[object, object]>([
      [{ stream: true }, { stream: true }],
      [{ stream: false }, { stream: false }],
      [{ n: 3 }, { choices: 3 }],
      [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
      [{ max_completion_tokens: 7 }, { maxOutputTokens: 7 }],
      [{ max_completion_tokens: 1, max_tokens: 9 }, { maxOutputTokens: 9 }],
      [{ max_completion_tokens: 9, max_tokens: null }, { maxOutputTokens: 9 }],
      [{ route: 'sort' }, { routing: { strategy: 'sort' } }],
      [{ route: 'fallback' }, { routing: { strategy: 'fallback' } }],
      [
        { provider: { order: ['a'], only: ['b'], ignore: ['c'], allow_fallbacks: false } },
        { routing: { order: ['a'], only: ['b'], ignore: ['c'], allowFallbacks: false } },
      ],
    ])('%j becomes %j', (fields, expected) => {
      expect(chatRequest({ ...fields })).toMatchObject(expected);
    });

    it('works the prompt out once, and only when asked', () => {
      const request = chatRequest();
      expect(request.prompt()).toBe(request.prompt());
    });
  });

  describe('fields that cost or name things in the vendor account', () => {
    it.each<[object, string]>([
      [{ service_tier: 'priority' }, 'service_tier'],
      [{ service_tier: 'flex' }, 'service_tier'],
      [{ service_tier: 1 }, 'service_tier'],
      [{ web_search_options: {} }, 'web_search_options'],
      [{ audio: { voice: 'x' } }, 'audio'],
      [{ modalities: ['text', 'audio'] }, 'modalities'],
      [
        { tools: [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }] },
        'tools.1.type',
      ],
      [
        { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
        'messages.0.content.0.file.file_id',
      ],
    ])('finds them in %j', (fields, param) => {
      expect(chatRequest({ ...fields }).accountBoundParam).toEqual({
        param,
        message: expect.stringContaining(`\`${param}\``) as unknown,
      });
    });

    it.each([
      { service_tier: 'auto' },
      { service_tier: 'default' },
      { modalities: ['text'] },
      { tools: [{ type: 'custom', custom: { name: 'c' } }] },
      { store: true },
      {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { file_id: null, file_data: 'x' } }] },
        ],
      },
    ])('lets %j pass', (fields) => {
      expect(chatRequest(fields).accountBoundParam).toBeUndefined();
    });
  });

  it('takes NUL and lone surrogates in every text', () => {
    const odd = 'a\u0000b\ud800c\udc00';
    const request = chatRequest({
      model: `openai/${odd}`,
      models: [`a/${odd}`],
      user: odd,
      stop: [odd],
      reasoning_effort: odd,
      provider: { order: [odd], only: [odd], ignore: [odd] },
      metadata: { [odd]: odd },
      logit_bias: { [odd]: 1 },
      trace: { trace_name: odd },
      response_format: { type: odd },
      tools: [{ type: 'function', function: { name: odd, description: odd, parameters: {} } }],
      tool_choice: { type: 'function', function: { name: odd } },
      messages: [
        { role: 'system', content: odd, name: odd },
        {
          role: 'user',
          content: [
            { type: 'text', text: odd },
            { type: 'image_url', image_url: { url: odd, detail: odd } },
            { type: 'file', file: { file_data: odd, filename: odd } },
            { type: 'input_audio', input_audio: { data: odd, format: odd } },
          ],
        },
        {
          role: 'assistant',
          content: odd,
          refusal: odd,
          tool_calls: [{ id: odd, type: 'function', function: { name: odd, arguments: odd } }],
        },
        { role: 'tool', tool_call_id: odd, content: odd },
      ],
    });
    expect(request.models).toEqual([`openai/${odd}`, `a/${odd}`]);
    expect(request.promptSize.characters).toBeGreaterThan(10 * odd.length);
    expect(request.prompt().messages[3]).toEqual({
      role: 'tool',
      parts: [{ type: 'tool_result', toolCallId: odd, parts: [{ type: 'text', text: odd }] }],
    });
  });

  it('takes a conversation of 100,000 messages', () => {
    const many = Array.from({ length: 100_000 }, () => ({ role: 'user', content: 'x' }));
    expect(chatRequest({ messages: many }).promptSize.characters).toBe(100_000);
  });
});

describe(wantsUsageChunk.name, () => {
  it.each<[unknown, boolean]>([
    [undefined, false],
    [null, false],
    [{}, false],
    [{ include_usage: false }, false],
    [{ include_usage: true }, true],
  ])('for stream_options %j is %s', (options, expected) => {
    expect(wantsUsageChunk(chatRequest({ stream: true, stream_options: options }))).toBe(expected);
  });
});
