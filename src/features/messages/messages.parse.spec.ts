import { describe, expect, it } from '@jest/globals';
import { jsonBody } from '../../../test/support/chat-requests.js';
import { messagesBody, messagesRequest } from '../../../test/support/messages-requests.js';
import { parseCountTokens, parseMessages } from './messages.parse.js';
import {
  user,
  assistant,
  TOOL,
  refusalOf,
  refused,
} from '../../../test/support/messages-refusals.js';

describe(parseMessages.name, () => {
  it('parses a minimal body', () => {
    expect(messagesRequest()).toMatchObject({
      dialect: 'messages',
      models: ['openai/gpt-4o'],
      stream: false,
      choices: 1,
      maxOutputTokens: 100,
      accountBoundParam: undefined,
      routing: { order: [], only: undefined, ignore: [], allowFallbacks: true },
      promptSize: { characters: 2, images: 0 },
    });
  });

  it('reads the model chain and routing preferences', () => {
    const request = messagesRequest({
      models: ['a/b', 'openai/gpt-4o', 'c/d'],
      provider: { order: ['x'], only: ['x', 'y'], ignore: ['z'], allow_fallbacks: false },
      route: 'sort',
      stream: true,
    });
    expect(request.models).toEqual(['openai/gpt-4o', 'a/b', 'c/d']);
    expect(request.routing).toEqual({
      order: ['x'],
      only: ['x', 'y'],
      ignore: ['z'],
      allowFallbacks: false,
      strategy: 'sort',
    });
    expect(request.stream).toBe(true);
    expect(messagesRequest({ model: undefined, models: ['a/b'] }).models).toEqual(['a/b']);
  });

  it('accepts any string as end user', () => {
    const endUserOf = (metadata?: object) => messagesRequest({ metadata }).endUser;
    expect(endUserOf({ user_id: 'ann' })).toBe('ann');
    expect(endUserOf({ user_id: null })).toBeUndefined();
    expect(endUserOf()).toBeUndefined();
  });

  it('keeps the bytes, including unknown fields', () => {
    const text =
      '{ "model":"a/b", "max_tokens":5.0, "new_field":[1], "messages":[{"role":"user","content":"x"}]}';
    expect(parseMessages(jsonBody(text), {}).body.bytes.toString()).toBe(text);
  });

  it('treats null as unset', () => {
    const nulls = Object.fromEntries(
      [
        ...['models', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'provider'],
        ...['route', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'metadata'],
        ...['trace', 'service_tier', 'container', 'mcp_servers', 'diagnostics', 'cache_control'],
      ].map((field) => [field, null]),
    );
    const request = messagesRequest(nulls);
    expect(request.accountBoundParam).toBeUndefined();
    expect(request.prompt()).toEqual(messagesRequest().prompt());
  });

  describe('shape', () => {
    it.each<[string, unknown[]]>([
      ['model', [1, {}, 'gpt-4o', '', 'openai/', '/x', 'x'.repeat(257)]],
      ['models', ['a/b', {}]],
      ['models.0', [['x'], [1], ['']]],
      ['messages', [1, 'Hi', {}, [], null]],
      ['messages.0', [['Hi'], [null]]],
      ['messages.0.role', [[{ content: 'x' }], [{ role: 'tool', content: 'x' }]]],
      ['messages.0.content', [[{ role: 'user' }], [user(null)], [user(5)], [user({})]]],
      ['messages.0.content.0', [[user(['x'])], [user([null])]]],
      ['messages.0.content.0.type', [[user([{}])], [user([{ type: 5 }])]]],
      ['system', [1, {}, true]],
      ['system.0', [['x']]],
      ['system.0.type', [[{}], [{ type: 'image', source: {} }]]],
      ['system.0.text', [[{ type: 'text' }], [{ type: 'text', text: 1 }]]],
      ['max_tokens', [0, -1, 1.5, '10', 2 ** 31, null]],
      ['stream', ['true', 1]],
      ['temperature', ['1', 1.1, -0.1]],
      ['top_p', ['1', []]],
      ['top_k', ['1', 1.5, -1]],
      ['stop_sequences', ['x', {}]],
      ['stop_sequences.1', [['a', 5]]],
      ['metadata', [[], 'x']],
      ['metadata.user_id', [{ user_id: 5 }]],
      ['tools', [{}, 'x']],
      ['tools.0', [['x'], [null]]],
      ['tools.0.name', [[{ input_schema: {} }], [{ ...TOOL, name: '' }], [{ ...TOOL, name: 1 }]]],
      ['tools.0.input_schema', [[{ name: 'f' }], [{ name: 'f', input_schema: 'x' }]]],
      ['tools.0.type', [[{ ...TOOL, type: 5 }]]],
      ['tool_choice', ['auto', 1, []]],
      ['tool_choice.type', [{}, { type: 'required' }, { type: 5 }]],
      ['tool_choice.name', [{ type: 'tool' }, { type: 'tool', name: 5 }]],
      [
        'tool_choice.disable_parallel_tool_use',
        [{ type: 'auto', disable_parallel_tool_use: 'yes' }],
      ],
      ['thinking', ['high', true]],
      ['thinking.type', [{}, { type: 1 }]],
      [
        'thinking.budget_tokens',
        [
          { type: 'enabled' },
          { type: 'enabled', budget_tokens: 0 },
          { type: 'enabled', budget_tokens: '1' },
        ],
      ],
      ['output_config', ['x', []]],
      ['output_config.effort', [{ effort: 1 }]],
      ['output_config.format', [{ format: 'json' }]],
      ['output_config.format.type', [{ format: {} }, { format: { type: 'json_object' } }]],
      ['output_config.format.schema', [{ format: { type: 'json_schema' } }]],
      ['provider', ['openai']],
      ['provider.order.0', [{ order: [1] }]],
      ['route', ['fastest', 1]],
      ['trace', ['x']],
    ])('rejects an invalid %s and names it', (param, values) => {
      const [field = ''] = param.split('.');
      for (const value of values) {
        expect([value, refusalOf(messagesBody({ [field]: value }))]).toEqual([
          value,
          refused(param),
        ]);
      }
    });

    it.each([
      ['model', {}],
      ['messages', { model: 'a/b' }],
      ['max_tokens', { model: 'a/b', messages: [user('x')] }],
    ])('names %s as the first missing field', (param, body) => {
      expect(refusalOf(body)).toEqual(refused(param));
    });
  });

  describe('content blocks', () => {
    const source = (fields: object): object => ({ type: 'image', source: fields });
    it.each<[string, object]>([
      ['text', user([{ type: 'text' }])],
      ['source', user([{ type: 'image' }])],
      ['source', user([{ type: 'document', source: 'x' }])],
      ['source.type', user([source({})])],
      ['source.data', user([source({ type: 'base64', media_type: 'image/png' })])],
      ['source.media_type', user([source({ type: 'base64', data: 'x' })])],
      ['source.url', user([source({ type: 'url' })])],
      ['source.file_id', user([source({ type: 'file', file_id: 5 })])],
      ['source.data', user([{ type: 'document', source: { type: 'text' } }])],
      ['source.content', user([{ type: 'document', source: { type: 'content' } }])],
      ['source.content.0', user([{ type: 'document', source: { type: 'content', content: [1] } }])],
      ['title', user([{ type: 'document', title: 5, source: { type: 'text', data: 'x' } }])],
      ['title', user([{ type: 'search_result' }])],
      ['content', user([{ type: 'search_result', title: 't', source: 's' }])],
      ['tool_use_id', user([{ type: 'tool_result' }])],
      ['content', user([{ type: 'tool_result', tool_use_id: 'a', content: 5 }])],
      ['content.0', user([{ type: 'tool_result', tool_use_id: 'a', content: ['x'] }])],
      ['content.0.type', user([{ type: 'tool_result', tool_use_id: 'a', content: [{}] }])],
      [
        'content.0.text',
        user([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text' }] }]),
      ],
      [
        'content.0.type',
        user([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_result' }] }]),
      ],
      ['is_error', user([{ type: 'tool_result', tool_use_id: 'a', is_error: 'yes' }])],
      ['type', user([{ type: 'tool_use', id: 'a', name: 'f', input: {} }])],
      ['type', user([{ type: 'thinking', thinking: 'x', signature: 's' }])],
      ['type', assistant([{ type: 'tool_result', tool_use_id: 'a' }])],
      ['type', { role: 'system', content: [source({ type: 'url', url: 'https://x' })] }],
      ['id', assistant([{ type: 'tool_use', name: 'f', input: {} }])],
      ['name', assistant([{ type: 'tool_use', id: 'a', input: {} }])],
      ['input', assistant([{ type: 'tool_use', id: 'a', name: 'f', input: '{}' }])],
      ['input', assistant([{ type: 'tool_use', id: 'a', name: 'f', input: [] }])],
      ['thinking', assistant([{ type: 'thinking', signature: 's' }])],
      ['signature', assistant([{ type: 'thinking', thinking: 'x' }])],
      ['data', assistant([{ type: 'redacted_thinking' }])],
      ['cache_control', user([{ type: 'text', text: 'x', cache_control: 'ephemeral' }])],
      [
        'cache_control',
        user([{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1d' } }]),
      ],
    ])('rejects an invalid %s with its path', (param, message) => {
      expect(refusalOf(messagesBody({ messages: [user('x'), message] }))).toEqual(
        refused(`messages.1.content.0.${param}`),
      );
    });

    it.each(['constructor', '__proto__', 'server_tool_use', 'something_new'])(
      'leaves blocks of type %s to vendors of this dialect',
      (type) => {
        const messages = [user([{ type, anything: [1] }])];
        expect(messagesRequest({ messages }).accountBoundParam).toBeUndefined();
      },
    );
  });
});

describe(parseCountTokens.name, () => {
  it('requires no output limit and ignores uncounted fields', () => {
    const { model, messages } = messagesBody();
    const body = { model, messages, max_tokens: 'none', temperature: 7, stream: true };
    expect(parseCountTokens(jsonBody(body), {})).toMatchObject({
      stream: false,
      maxOutputTokens: undefined,
      promptSize: { characters: 2 },
    });
  });

  it.each([
    ['model', {}],
    ['messages', { model: 'a/b' }],
    ['messages.0.content', { model: 'a/b', messages: [{ role: 'user' }] }],
    ['tools.0.name', { model: 'a/b', messages: [user('x')], tools: [{}] }],
  ])('names an invalid %s', (param, body) => {
    expect(() => parseCountTokens(jsonBody(body), {})).toThrow(refused(param));
  });
});
