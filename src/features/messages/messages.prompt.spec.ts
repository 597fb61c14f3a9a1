import { describe, expect, it } from '@jest/globals';
import { messagesRequest } from '../../../test/support/messages-requests.js';
import type { CanonicalPrompt } from '../../canonical/canonical-request.js';
import { encodeCallSignature } from './message-signatures.js';
import { messagesPrompt } from './messages.prompt.js';

const promptOf = (fields: Record<string, unknown>): CanonicalPrompt =>
  messagesRequest(fields).prompt();
const partsOf = (role: string, content: unknown): unknown =>
  promptOf({ messages: [{ role, content }] }).messages[0]?.parts;

describe(messagesPrompt.name, () => {
  it('reads a plain prompt', () => {
    expect(promptOf({ system: 'Be brief.' })).toEqual({
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      ],
      tools: [],
      toolChoice: undefined,
      parallelToolCalls: undefined,
      responseFormat: undefined,
      reasoning: undefined,
      endUser: undefined,
      droppedFields: [],
      sampling: {},
    });
  });

  it('treats a null end user as absent', () => {
    expect(promptOf({ metadata: { user_id: null } }).endUser).toBeUndefined();
  });

  it('reads sampling and reasoning options', () => {
    const prompt = promptOf({
      temperature: 0,
      top_p: 0.5,
      top_k: 5,
      stop_sequences: ['a', 'b'],
      metadata: { user_id: 'u' },
      output_config: {
        effort: 'xhigh',
        format: { type: 'json_schema', schema: { type: 'object' } },
      },
      thinking: { type: 'enabled', budget_tokens: 2048 },
    });
    expect(prompt.sampling).toEqual({ temperature: 0, topP: 0.5, topK: 5, stop: ['a', 'b'] });
    expect(prompt.endUser).toBe('u');
    expect(prompt.reasoning).toEqual({ enabled: true, maxTokens: 2048, effort: 'xhigh' });
    expect(prompt.responseFormat).toEqual({
      type: 'json_schema',
      name: 'answer',
      schema: { type: 'object' },
    });
    expect(prompt.droppedFields).toEqual([]);
  });

  it.each([
    [{ type: 'disabled' }, { enabled: false }],
    [{ type: 'adaptive' }, { enabled: true }],
  ])('reads thinking %j', (thinking, reasoning) => {
    expect(promptOf({ thinking }).reasoning).toEqual(reasoning);
  });

  it.each([
    [{ type: 'auto' }, 'auto', undefined],
    [{ type: 'any', disable_parallel_tool_use: true }, 'required', false],
    [{ type: 'tool', name: 'f', disable_parallel_tool_use: false }, { name: 'f' }, true],
    [{ type: 'none' }, 'none', undefined],
  ])('reads the tool choice %j', (tool_choice, toolChoice, parallelToolCalls) => {
    expect(promptOf({ tool_choice })).toMatchObject({ toolChoice, parallelToolCalls });
  });

  it('reads tools', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const tools = [
      { type: 'custom', name: 'f', description: 'F', input_schema: schema, strict: true },
      { name: 'g', input_schema: {}, cache_control, defer_loading: true },
      { type: 'bash_20250124', name: 'bash' },
    ];
    const prompt = promptOf({ tools });
    expect(prompt.tools).toEqual([
      { name: 'f', description: 'F', parameters: schema, strict: true },
      { name: 'g', parameters: {}, cacheControl: { ttl: '1h' } },
    ]);
    expect(prompt.droppedFields).toEqual(['tools.defer_loading', 'tools.bash_20250124']);
  });

  it("lists fields without a canonical form, except the gateway's own", () => {
    const prompt = promptOf({
      trace: {},
      route: 'sort',
      provider: {},
      service_tier: 'auto',
      new_field: false,
      thinking: { type: 'between_tools', display: 'omitted' },
      metadata: { tag: 'x' },
      output_config: { task_budget: 5 },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'new_block' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'y', citations: [{}] }] },
      ],
    });
    expect(new Set(prompt.droppedFields)).toEqual(
      new Set([
        'service_tier',
        'new_field',
        'thinking',
        'thinking.display',
        'metadata.tag',
        'output_config.task_budget',
        'messages.content.new_block',
        'messages.content.citations',
      ]),
    );
    expect(prompt.reasoning).toBeUndefined();
  });

  describe('parts', () => {
    const ephemeral = { type: 'ephemeral' };

    it('reads text, images and documents with their cache marks', () => {
      const content = [
        { type: 'text', text: 'a', cache_control: ephemeral },
        { type: 'image', source: { type: 'base64', media_type: 'image/PNG', data: 'QQ==' } },
        { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
        {
          type: 'document',
          title: 'T.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: 'Qg==' },
        },
        { type: 'document', source: { type: 'url', url: 'https://x/y.pdf' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
        {
          type: 'document',
          source: { type: 'content', content: [{ type: 'text', text: 'inner' }] },
        },
        {
          type: 'search_result',
          title: 'Page',
          source: 'https://x',
          content: [
            { type: 'text', text: 'one' },
            { type: 'text', text: 'two' },
          ],
        },
      ];
      expect(partsOf('user', content)).toEqual([
        { type: 'text', text: 'a', cacheControl: { ttl: '5m' } },
        { type: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'QQ==' } },
        { type: 'image', source: { kind: 'url', url: 'https://x/y.png' } },
        {
          type: 'document',
          filename: 'T.pdf',
          source: { kind: 'inline', mediaType: 'application/pdf', data: 'Qg==' },
        },
        { type: 'document', source: { kind: 'url', url: 'https://x/y.pdf' } },
        {
          type: 'document',
          source: {
            kind: 'inline',
            mediaType: 'text/plain',
            data: Buffer.from('Grüße').toString('base64'),
          },
        },
        { type: 'text', text: 'inner' },
        { type: 'text', text: 'Page\nhttps://x\n\none\n\ntwo' },
      ]);
    });

    it('splits a turn with tool results into separate messages', () => {
      const messages = [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { city: 'Rome' } },
            { type: 'tool_use', id: 'toolu_2', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Sunny' },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_2',
              is_error: true,
              content: [{ type: 'text', text: 'No city' }],
            },
            { type: 'text', text: 'Go on.' },
          ],
        },
      ];
      expect(promptOf({ messages }).messages.slice(1)).toEqual([
        {
          role: 'assistant',
          parts: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_call', id: 'toolu_1', name: 'f', arguments: '{"city":"Rome"}' },
            { type: 'tool_call', id: 'toolu_2', name: 'f', arguments: '{}' },
          ],
        },
        {
          role: 'tool',
          parts: [
            {
              type: 'tool_result',
              toolCallId: 'toolu_1',
              parts: [{ type: 'text', text: 'Sunny' }],
            },
            {
              type: 'tool_result',
              toolCallId: 'toolu_2',
              isError: true,
              parts: [{ type: 'text', text: 'No city' }],
            },
          ],
        },
        { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] },
      ]);
    });

    it('accepts a result without content, and an empty message', () => {
      expect(partsOf('user', [{ type: 'tool_result', tool_use_id: 'a' }])).toEqual([
        { type: 'tool_result', toolCallId: 'a', parts: [] },
      ]);
      expect(partsOf('user', [])).toEqual([]);
      expect(partsOf('assistant', '')).toEqual([{ type: 'text', text: '' }]);
    });

    it('attaches a signature to its tool call', () => {
      const content = [
        { type: 'redacted_thinking', data: encodeCallSignature('id:1', 'other:c2ln') },
        { type: 'tool_use', id: 'id:1', name: 'f', input: {} },
        { type: 'tool_use', id: 'id:2', name: 'f', input: {} },
      ];
      expect(partsOf('assistant', content)).toEqual([
        { type: 'tool_call', id: 'id:1', name: 'f', arguments: '{}', signature: 'other:c2ln' },
        { type: 'tool_call', id: 'id:2', name: 'f', arguments: '{}' },
      ]);
    });

    it("applies the request's cache mark to the last part, unless it has one", () => {
      const last = (fields: Record<string, unknown>): unknown =>
        promptOf({ cache_control: ephemeral, ...fields })
          .messages.at(-1)
          ?.parts.at(-1);
      expect(last({})).toEqual({ type: 'text', text: 'Hi', cacheControl: { ttl: '5m' } });
      const text = { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } };
      expect(last({ messages: [{ role: 'user', content: [text] }] })).toMatchObject({
        cacheControl: { ttl: '1h' },
      });
    });
  });
});
