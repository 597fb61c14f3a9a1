import { describe, expect, it } from '@jest/globals';
import { jsonBody } from '../../../test/support/chat-requests.js';
import { messagesBody, messagesRequest } from '../../../test/support/messages-requests.js';
import { parseMessages } from './messages.parse.js';
import { user, assistant, TOOL } from '../../../test/support/messages-refusals.js';

function thrownBy(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe(`${parseMessages.name} on a shared account`, () => {
  describe('shared capacity', () => {
    const boundOf = (fields: object, headers = {}): string | undefined =>
      messagesRequest(fields as Record<string, unknown>, headers).accountBoundParam?.param;
    const file = { type: 'file', file_id: 'file_1' };

    it.each<[string, object]>([
      ['service_tier', { service_tier: 'priority' }],
      ['speed', { speed: 'fast' }],
      ['inference_geo', { inference_geo: 'us' }],
      ['container', { container: 'container_1' }],
      ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://x.example', name: 'x' }] }],
      ['fallbacks', { fallbacks: [{ model: 'claude-haiku-5-5' }] }],
      ['fallback_credit_token', { fallback_credit_token: 't' }],
      ['compaction', { compaction: {} }],
      [
        'context_management.edits.1.type',
        {
          context_management: {
            edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }],
          },
        },
      ],
      ['context_management.edits.0.type', { context_management: { edits: ['x'] } }],
      ['diagnostics.previous_message_id', { diagnostics: { previous_message_id: 'msg_1' } }],
      ['tools.1.type', { tools: [TOOL, { type: 'advisor_20260301', name: 'advisor' }] }],
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
    ])('rejects %s', (param, fields) => {
      expect(boundOf(fields)).toBe(param);
    });

    it.each<[object]>([
      [{ service_tier: 'auto' }],
      [{ service_tier: 'standard_only' }],
      [{ speed: 'standard' }],
      [{ inference_geo: 'global' }],
      [{ diagnostics: { previous_message_id: null } }],
      [{ mcp_servers: [], container: null }],
      [{ context_management: {} }],
      [{ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
      [{ tools: [{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }] }],
      [{ tools: [{ type: 'web_search_20260209', name: 'web_search' }] }],
      [{ tools: [TOOL, { ...TOOL, type: 'custom' }, { ...TOOL, type: null }] }],
      [{ tools: [{ type: 'bash_20250124', name: 'bash' }, { type: 'computer_toolset_20260801' }] }],
    ])('accepts %j', (fields) => {
      expect(boundOf(fields)).toBeUndefined();
    });

    it.each<[object, number]>([
      [{}, 10],
      [{ max_uses: 3 }, 3],
      [{ max_uses: 2.5 }, 3],
      [{ max_uses: 1e9 }, 100],
      [{ max_uses: 'x' }, 10],
    ])('counts the searches of %j', (fields, most) => {
      const tool = { type: 'web_search_20250305', name: 'web_search', ...fields };
      const { webSearch } = messagesRequest({ tools: [TOOL, tool] });
      expect(webSearch).toMatchObject({ most, bound: { param: 'tools.1.type' } });
      expect(messagesRequest({ tools: [TOOL] }).webSearch).toBeUndefined();
    });
  });

  describe('vendor headers', () => {
    const headersOf = (headers: Record<string, string>, fields: Record<string, unknown> = {}) =>
      messagesRequest(fields, headers).vendorHeaders;
    const betas = (names: string) => headersOf({ 'anthropic-beta': names });

    it.each([
      'claude-code-20250219',
      'interleaved-thinking-2025-05-14',
      'thinking-token-count-2026-05-13',
      'context-management-2025-06-27',
      'prompt-caching-scope-2026-01-05',
      'effort-2025-11-24',
      'structured-outputs-2025-12-15',
      'oauth-2025-04-20',
      'fine-grained-tool-streaming-2025-05-14',
      'pdfs-2024-09-25',
      'extended-cache-ttl-2025-04-11',
      'token-efficient-tools-2025-02-19',
      'output-128k-2025-02-19',
      'advanced-tool-use-2025-11-20',
    ])('sends %s, which is free or priced', (beta) => {
      expect(betas(beta)).toMatchObject({
        own: { 'anthropic-beta': beta },
        shared: { 'anthropic-beta': beta },
        dropped: [],
        bound: undefined,
        longContext: undefined,
      });
    });

    it.each([
      'files-api-2025-04-14',
      'code-execution-2025-08-25',
      'mcp-client-2025-11-20',
      'skills-2025-10-02',
      'fast-mode-2026-02-01',
      'compact-2026-01-12',
    ])('rejects %s by name', (beta) => {
      const bound = betas(`claude-code-20250219, ${beta}`)?.bound;
      expect(bound).toMatchObject({ param: 'anthropic-beta' });
      expect(bound?.message).toContain(beta);
    });

    it('lists unknown betas as dropped', () => {
      expect(betas('new-thing-2027-01-01,claude-code-20250219,,')).toEqual({
        own: { 'anthropic-beta': 'new-thing-2027-01-01,claude-code-20250219' },
        shared: { 'anthropic-beta': 'claude-code-20250219' },
        dropped: ['anthropic-beta.new-thing-2027-01-01'],
        bound: undefined,
        longContext: undefined,
      });
    });

    it('allows long prompts on models with a price for them', () => {
      expect(betas('context-1m-2025-08-07')).toMatchObject({
        shared: {},
        dropped: [],
        bound: undefined,
        longContext: { param: 'anthropic-beta', tokens: 1_000_000 },
      });
    });

    it.each(['a\r\nx-evil: 1', 'ü', '\u0000'])('rejects the name %j', (name) => {
      expect(() => messagesRequest({ anthropic_beta: [name] })).toThrow(
        expect.objectContaining({ status: 400, param: 'anthropic_beta' }),
      );
    });

    it('merges the betas of the body into the header', () => {
      const given = { 'anthropic-beta': 'effort-2025-11-24' };
      const fields = { anthropic_beta: ['effort-2025-11-24', 'files-api-2025-04-14', 5] };
      expect(headersOf(given, fields)).toMatchObject({
        own: { 'anthropic-beta': 'effort-2025-11-24,files-api-2025-04-14' },
        bound: { param: 'anthropic-beta' },
      });
      const { body, prompt } = messagesRequest(fields);
      expect(body.bytes.toString()).not.toContain('beta');
      expect(prompt().droppedFields).toEqual([]);
    });

    it('selects a workspace only in BYOK accounts', () => {
      const headers = { 'anthropic-workspace-id': 'wrkspc_1' };
      expect(headersOf({ ...headers, 'anthropic-version': '1', authorization: 'a' })).toEqual({
        own: headers,
        shared: {},
        dropped: [],
        bound: undefined,
        longContext: undefined,
      });
      expect(messagesRequest({}, headers).accountBoundParam).toMatchObject({
        param: 'anthropic-workspace-id',
      });
    });

    it('returns undefined without such headers', () => {
      expect(headersOf({ 'anthropic-version': '2026-10-21' })).toBeUndefined();
      expect(betas('')).toBeUndefined();
      expect(betas(' , ')).toBeUndefined();
    });
  });

  it('rejects threads with the error code that clients recognize', () => {
    const thread = { type: 'create' };
    const error = thrownBy(() => messagesRequest({ thread }));
    expect(error).toMatchObject({
      status: 400,
      param: 'thread',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    });
    expect(thrownBy(() => messagesRequest({ thread: null }))).toBeUndefined();
  });

  describe('reasoning', () => {
    const thinking = (thought: string, signature: string): object => ({
      type: 'thinking',
      thinking: thought,
      signature,
    });
    const unsigned = [thinking('Nobody’s.', ''), { type: 'redacted_thinking', data: '' }];
    const signed = [
      thinking('Ours.', 'c2ln'),
      thinking('Theirs.', 'other:c2ln'),
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      { type: 'redacted_thinking', data: 'other:ZGF0YQ==' },
    ];
    const yes = { type: 'text', text: 'Yes' };

    it('removes unsigned reasoning from the body for vendors of this dialect', () => {
      const request = messagesRequest({
        temperature: 0.5,
        messages: [
          user('x'),
          assistant([...unsigned, ...signed, yes]),
          assistant(unsigned),
          user('y'),
        ],
      });
      expect(JSON.parse(request.body.bytes.toString())).toEqual({
        model: 'openai/gpt-4o',
        max_tokens: 100,
        temperature: 0.5,
        messages: [user('x'), assistant([...signed, yes]), user('y')],
      });
      expect(request.prompt().messages[1]?.parts).toEqual([
        { type: 'reasoning', text: 'Nobody’s.' },
        { type: 'reasoning', text: 'Ours.', signature: 'anthropic:c2ln' },
        { type: 'reasoning', text: 'Theirs.', signature: 'other:c2ln' },
        { type: 'reasoning', text: '', signature: 'anthropic:redacted:ZGF0YQ==' },
        { type: 'reasoning', text: '', signature: 'other:ZGF0YQ==' },
        { type: 'text', text: 'Yes' },
      ]);
    });

    it('leaves the body unchanged when reasoning is signed', () => {
      const messages = [user('x'), assistant([...signed, yes]), user('y')];
      const body = jsonBody(messagesBody({ messages }));
      expect(parseMessages(body, {}).body).toBe(body);
    });
  });
});
