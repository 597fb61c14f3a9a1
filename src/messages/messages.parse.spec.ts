import { describe, expect, it } from '@jest/globals';
import { jsonBody } from '../../test/support/chat-requests.js';
import { messagesBody, messagesRequest } from '../../test/support/messages-requests.js';
import { parseCountTokens, parseMessages } from './messages.parse.js';

const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const TOOL = { name: 'f', input_schema: { type: 'object' } };

/** The refusal of a body that is given whole. */
function refusalOf(body: unknown, headers = {}): unknown {
  try {
    parseMessages(jsonBody(body), headers);
    return undefined;
  } catch (error) {
    return error;
  }
}

const refused = (param: string) =>
  expect.objectContaining({ status: 400, type: 'invalid_request_error', param });

describe(parseMessages.name, () => {
  it('reads the smallest body', () => {
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

  it('reads the chain and the routing preferences as other endpoints do', () => {
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

  it('keeps the bytes as they came, unknown fields and all', () => {
    const text =
      '{ "model":"a/b", "max_tokens":5.0, "new_field":[1], "messages":[{"role":"user","content":"x"}]}';
    expect(parseMessages(jsonBody(text), {}).body.bytes.toString()).toBe(text);
  });

  it('takes null for what is not set', () => {
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
    ])('refuses a bad %s by its name', (param, values) => {
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
    ])('names %s first of what is missing', (param, body) => {
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
    ])('refuses a bad %s by its path', (param, message) => {
      expect(refusalOf(messagesBody({ messages: [user('x'), message] }))).toEqual(
        refused(`messages.1.content.0.${param}`),
      );
    });

    it.each(['constructor', '__proto__', 'server_tool_use', 'something_new'])(
      'leaves a block of type %s to vendors of this dialect',
      (type) => {
        const messages = [user([{ type, anything: [1] }])];
        expect(messagesRequest({ messages }).accountBoundParam).toBeUndefined();
      },
    );
  });

  describe('shared capacity', () => {
    const boundOf = (fields: object, headers = {}): string | undefined =>
      messagesRequest(fields as Record<string, unknown>, headers).accountBoundParam?.param;
    const file = { type: 'file', file_id: 'file_1' };

    it.each<[string, object]>([
      ['service_tier', { service_tier: 'priority' }],
      ['speed', { speed: 'fast' }],
      ['inference_geo', { inference_geo: 'us' }],
      ['container', { container: 'container_1' }],
      ['mcp_servers', { mcp_servers: [] }],
      ['context_management', { context_management: {} }],
      ['anthropic_beta', { anthropic_beta: ['x'] }],
      ['diagnostics.previous_message_id', { diagnostics: { previous_message_id: 'msg_1' } }],
      ['tools.1.type', { tools: [TOOL, { type: 'web_search_20250305', name: 'web_search' }] }],
      ['tools.0.type', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
      ['tools.0.type', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
      ['tools.0.type', { tools: [{ type: 'mcp_toolset', mcp_server_name: 'x' }] }],
      [
        'messages.0.content.0.source.file_id',
        { messages: [user([{ type: 'image', source: file }])] },
      ],
      [
        'messages.0.content.1.source.file_id',
        {
          messages: [
            user([
              { type: 'text', text: 'x' },
              { type: 'document', source: file },
            ]),
          ],
        },
      ],
      [
        'messages.0.content.0.content.0.source.file_id',
        {
          messages: [
            user([
              {
                type: 'tool_result',
                tool_use_id: 'a',
                content: [{ type: 'image', source: file }],
              },
            ]),
          ],
        },
      ],
      [
        'messages.0.content.0.file_id',
        { messages: [user([{ type: 'container_upload', file_id: 'file_1' }])] },
      ],
    ])('does not take %s', (param, fields) => {
      expect(boundOf(fields)).toBe(param);
    });

    it.each<[object]>([
      [{ service_tier: 'auto' }],
      [{ service_tier: 'standard_only' }],
      [{ speed: 'standard' }],
      [{ inference_geo: 'global' }],
      [{ diagnostics: { previous_message_id: null } }],
      [{ tools: [TOOL, { ...TOOL, type: 'custom' }, { ...TOOL, type: null }] }],
      [{ tools: [{ type: 'bash_20250124', name: 'bash' }, { type: 'computer_toolset_20260801' }] }],
    ])('takes %j', (fields) => {
      expect(boundOf(fields)).toBeUndefined();
    });

    it.each([
      ['context-1m-2025-08-07', 'anthropic-beta'],
      ['interleaved-thinking-2025-05-14', 'anthropic-beta'],
      ['claude-code-20250219, files-api-2025-04-14', 'anthropic-beta'],
      ['claude-code-20250219,fine-grained-tool-streaming-2025-05-14', undefined],
      ['token-counting-2024-11-01', undefined],
      ['', undefined],
    ])('of the beta names %j refuses those that open something', (beta, param) => {
      expect(boundOf({}, { 'anthropic-beta': beta })).toBe(param);
    });

    it('keeps for own accounts the headers that shared capacity refuses', () => {
      const headersOf = (headers: Record<string, string>) =>
        messagesRequest({}, headers).vendorHeaders;
      const headers = {
        'anthropic-beta': 'context-1m-2025-08-07',
        'anthropic-workspace-id': 'wrkspc_1',
      };
      expect(headersOf({ ...headers, 'anthropic-version': '1', authorization: 'a' })).toEqual(
        headers,
      );
      expect(headersOf({ 'anthropic-beta': 'claude-code-20250219' })).toBeUndefined();
    });

    it('takes no choice of a workspace, and any version', () => {
      expect(boundOf({}, { 'anthropic-workspace-id': 'wrkspc_1' })).toBe('anthropic-workspace-id');
      expect(boundOf({}, { 'anthropic-version': '2026-10-21' })).toBeUndefined();
    });
  });

  describe('reasoning', () => {
    const thinking = (thought: string, signature: string): object => ({
      type: 'thinking',
      thinking: thought,
      signature,
    });
    const unsealed = [thinking('Nobody’s.', ''), { type: 'redacted_thinking', data: '' }];
    const sealed = [
      thinking('Ours.', 'c2ln'),
      thinking('Theirs.', 'other:c2ln'),
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      { type: 'redacted_thinking', data: 'other:ZGF0YQ==' },
    ];
    const yes = { type: 'text', text: 'Yes' };

    it('without a seal is left out of the body that vendors of this dialect get', () => {
      const request = messagesRequest({
        temperature: 0.5,
        messages: [
          user('x'),
          assistant([...unsealed, ...sealed, yes]),
          assistant(unsealed),
          user('y'),
        ],
      });
      expect(JSON.parse(request.body.bytes.toString())).toEqual({
        model: 'openai/gpt-4o',
        max_tokens: 100,
        temperature: 0.5,
        messages: [user('x'), assistant([...sealed, yes]), user('y')],
      });
      expect(request.prompt().messages[1]?.parts).toEqual([
        { type: 'reasoning', text: 'Nobody’s.' },
        { type: 'reasoning', text: 'Ours.', seal: 'anthropic:c2ln' },
        { type: 'reasoning', text: 'Theirs.', seal: 'other:c2ln' },
        { type: 'reasoning', text: '', seal: 'anthropic:redacted:ZGF0YQ==' },
        { type: 'reasoning', text: '', seal: 'other:ZGF0YQ==' },
        { type: 'text', text: 'Yes' },
      ]);
    });

    it('with seals changes nothing of the body', () => {
      const messages = [user('x'), assistant([...sealed, yes]), user('y')];
      const body = jsonBody(messagesBody({ messages }));
      expect(parseMessages(body, {}).body).toBe(body);
    });
  });
});

describe(parseCountTokens.name, () => {
  it('needs no limit, and leaves aside what is not counted', () => {
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
  ])('names a bad %s', (param, body) => {
    expect(() => parseCountTokens(jsonBody(body), {})).toThrow(refused(param));
  });
});
