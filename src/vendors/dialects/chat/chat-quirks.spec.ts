import { describe, expect, it } from '@jest/globals';
import { canonicalRequest } from '../../../../test/support/canonical-requests.js';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { QuirkTable, readResetSeconds, type ChatQuirks } from './chat-quirks.js';
import { encodeChatPrompt, encodeChatRequest, fieldsChatLacks } from './encode-chat-request.js';

const MESSAGES = [{ role: 'user', content: 'Hello' }];

/** Returns the body that a server with these quirks gets from a caller of the chat dialect. */
function sent(quirks: ChatQuirks, body: JsonObject, upstreamModel = 'm'): JsonObject {
  const request = chatRequest({ messages: MESSAGES, ...body });
  const bytes = encodeChatRequest(
    { request, upstreamModel, ownOutputLimit: undefined },
    quirks.outputLimitField ?? 'max_tokens',
    { knownFieldsOnly: true, quirks: new QuirkTable(quirks) },
  );
  return JSON.parse(bytes.toString()) as JsonObject;
}

describe(QuirkTable.name, () => {
  it.each<[string, ChatQuirks, JsonObject, JsonObject]>([
    ["the limit's old name", {}, { max_completion_tokens: 5 }, { max_tokens: 5 }],
    [
      "the limit's new name",
      { outputLimitField: 'max_completion_tokens' },
      { max_tokens: 5 },
      { max_completion_tokens: 5 },
    ],
    ['other names', { renames: { seed: 'random_seed' } }, { seed: 7 }, { random_seed: 7 }],
    ['no unsupported fields', { refuses: ['logit_bias'] }, { logit_bias: { 1: 2 } }, {}],
    ['no fields that only OpenAI has', {}, { store: true, service_tier: 'priority' }, {}],
    [
      'its own fields',
      { takes: ['thinking'] },
      { thinking: { type: 'enabled' } },
      { thinking: { type: 'enabled' } },
    ],
    ['no unknown fields', {}, { best_of: 3 }, {}],
    [
      'a supported tool choice',
      { toolChoice: ['auto'] },
      { tool_choice: 'auto' },
      { tool_choice: 'auto' },
    ],
    ['no other choice', { toolChoice: ['auto'] }, { tool_choice: 'required' }, {}],
    [
      'no tools when it does not support the choice `none`',
      { toolChoice: ['auto'] },
      { tool_choice: 'none', tools: [] },
      {},
    ],
    [
      'an effort',
      { effort: { words: { minimal: 'low' } } },
      { reasoning_effort: 'high' },
      { reasoning_effort: 'high' },
    ],
    [
      'disabled thinking',
      { effort: { off: '^m$', words: { none: '' } } },
      { reasoning_effort: 'none' },
      { thinking: { type: 'disabled' } },
    ],
    [
      'no disabling to models that always think',
      { effort: { off: '^other$', words: { none: '' } } },
      { reasoning_effort: 'none' },
      {},
    ],
    [
      'an effort in its own words',
      { effort: { words: { minimal: 'low' } } },
      { reasoning_effort: 'minimal' },
      { reasoning_effort: 'low' },
    ],
    [
      'no effort without a counterpart',
      { effort: { words: { none: '' } } },
      { reasoning_effort: 'none' },
      {},
    ],
    [
      'no effort to models that never reason',
      { effort: { models: '^r' } },
      { reasoning_effort: 'low' },
      {},
    ],
    [
      'an effort as thinking',
      { effort: { as: 'thinking' } },
      { reasoning_effort: 'low' },
      { thinking: { type: 'enabled' } },
    ],
    [
      'an effort of none as disabled thinking',
      { effort: { as: 'thinking' } },
      { reasoning: { effort: 'none' } },
      { thinking: { type: 'disabled' } },
    ],
    [
      'an effort as a flag',
      { effort: { as: 'enable_thinking' } },
      { reasoning_effort: 'high' },
      { enable_thinking: true },
    ],
    [
      'its default fields',
      { adds: [{ fields: { a: 1 } }, { models: '^x', fields: { b: 1 } }] },
      {},
      { a: 1 },
    ],
  ])('sends %s', (_name, quirks, body, expected) => {
    expect(sent(quirks, body)).toEqual({ model: 'm', messages: MESSAGES, ...expected });
  });

  it('omits the usage option when the server rejects it', () => {
    expect(sent({}, { stream: true })).toMatchObject({ stream_options: { include_usage: true } });
    expect(sent({ streamOptions: false }, { stream: true })).not.toHaveProperty('stream_options');
  });

  it('turns developer messages into system messages', () => {
    const messages = [{ role: 'developer', content: 'Be brief.' }, ...MESSAGES];
    expect(sent({}, { messages }).messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      ...MESSAGES,
    ]);
  });

  it('puts the schema into the prompt when only `json_object` is supported', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const body = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
    const { messages, response_format: format } = sent({ jsonSchema: false }, body);
    expect(format).toEqual({ type: 'json_object' });
    expect(messages).toEqual([
      { role: 'system', content: expect.stringContaining(JSON.stringify(schema)) },
      ...MESSAGES,
    ]);
    expect(sent({}, body).response_format).toEqual(body.response_format);
  });

  it('gives tool calls and their results matching ids of the required length', () => {
    const call = {
      id: 'call_0123456789',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    };
    const messages = [
      ...MESSAGES,
      { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'abcDEF123' }] },
      { role: 'tool', tool_call_id: call.id, content: 'x' },
    ];
    const [, turn, result] = sent({ toolIdLength: 9 }, { messages }).messages as [
      unknown,
      { tool_calls: { id: string }[] },
      { tool_call_id: string },
    ];
    expect(turn.tool_calls[0]!.id).toMatch(/^[a-z0-9]{9}$/);
    expect(result.tool_call_id).toBe(turn.tool_calls[0]!.id);
    expect(turn.tool_calls[1]!.id).toBe('abcDEF123');
  });

  it('sends reasoning back with tool calls when the server requires it', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const turn = { role: 'assistant', content: null, tool_calls: [call] };
    const messages = [...MESSAGES, turn, { ...turn, reasoning_content: 'Hm.' }];
    expect(sent({ keepsReasoning: true }, { messages }).messages).toEqual([
      MESSAGES[0],
      { ...turn, reasoning_content: ' ' },
      messages[2],
    ]);
  });

  it('refuses tools for servers without tool calls', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect(() => sent({ tools: false }, { tools })).toThrow('does not support tools');
    expect(sent({ tools: false }, { tools: [] })).toMatchObject({ tools: [] });
  });

  it('applies to callers of other dialects and reports dropped fields', () => {
    const quirks = new QuirkTable({
      renames: { seed: 'random_seed' },
      refuses: ['top_p'],
      toolChoice: ['auto'],
      jsonSchema: false,
    });
    const request = canonicalRequest(
      {
        tools: [{ name: 'f', description: undefined, parameters: {}, strict: undefined }],
        toolChoice: 'required',
        responseFormat: { type: 'json_schema', name: 'x', schema: {}, strict: true },
        sampling: { seed: 7, topP: 0.5, temperature: 1 },
      },
      { dialect: 'messages' },
    );
    const call = { request, upstreamModel: 'm', ownOutputLimit: 9 };
    const body = JSON.parse(
      encodeChatPrompt(call, 'max_tokens', true, undefined, quirks).toString(),
    ) as JsonObject;
    expect(body).toMatchObject({
      random_seed: 7,
      temperature: 1,
      max_tokens: 9,
      response_format: { type: 'json_object' },
    });
    for (const field of ['seed', 'top_p', 'tool_choice']) expect(body).not.toHaveProperty(field);
    expect(fieldsChatLacks(request, true, quirks, 'm').sort()).toEqual([
      'output_config.format',
      'tool_choice',
      'top_p',
    ]);
  });
});

describe(readResetSeconds.name, () => {
  it.each([
    ['12', 12],
    ['2m59.5s', 179.5],
    ['340ms', 0.34],
    ['1h2s', 3_602],
    ['soon', undefined],
    ['0', undefined],
    [undefined, undefined],
  ])('reads %s', (value, expected) => {
    expect(readResetSeconds({ 'x-reset': value }, ['x-other', 'x-reset'])).toBe(expected);
  });
});
