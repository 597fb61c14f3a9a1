import { describe, expect, it } from '@jest/globals';
import { jsonBody } from '../../../test/support/chat-requests.js';
import { messagesBody, messagesRequest } from '../../../test/support/messages-requests.js';
import { parseMessages } from './messages.parse.js';
import { user, assistant, TOOL } from '../../../test/support/messages-refusals.js';

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
