import { describe, expect, it } from '@jest/globals';
import { chatRequest, jsonBody } from '../../../test/support/chat-requests.js';
import { parseChat, wantsUsageChunk } from './chat.parse.js';
import { messages, refusalOf, refused } from '../../../test/support/chat-refusals.js';

describe(parseChat.name, () => {
  it('parses a minimal body', () => {
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

  describe('models', () => {
    it.each<[object, string[]]>([
      [{ model: 'a/b' }, ['a/b']],
      [{ models: ['a/b', 'c/d'] }, ['a/b', 'c/d']],
      [{ model: 'a/b', models: ['c/d', 'a/b', 'c/d', 'e/f'] }, ['a/b', 'c/d', 'e/f']],
      [{ model: 'a/b', models: [] }, ['a/b']],
      [{ model: null, models: ['a/b'] }, ['a/b']],
      [{ model: 'openai/ft:gpt-4o:org/x' }, ['openai/ft:gpt-4o:org/x']],
      [{ model: 'a/ b\n' }, ['a/ b\n']],
    ])('reads %j as %j', (fields, models) => {
      expect(parseChat(jsonBody({ messages, ...fields })).models).toEqual(models);
    });

    it.each<[object, string, RegExp]>([
      [{}, 'model', /`model` is missing/],
      [{ model: null, models: null }, 'model', /`model` is missing/],
      [{ models: [] }, 'model', /`model` is missing/],
      [{ model: '' }, 'model', /"" is not a model alias/],
      [{ model: 'gpt-4o' }, 'model', /"gpt-4o" is not a model alias; use <provider>\/<model>/],
      [{ model: '/gpt-4o' }, 'model', /not a model alias/],
      [{ model: 'openai/' }, 'model', /not a model alias/],
      [{ model: 'a/b', models: ['c/d', 'gpt'] }, 'models.1', /"gpt"/],
      [{ models: ['gpt'] }, 'models.0', /"gpt"/],
      [{ model: 'a\u0000\ud800' }, 'model', /"a\\u0000\\ud800"/],
    ])('rejects %j', (fields, param, message) => {
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
    ])('rejects %j', (fields, param, message) => {
      expect(refusalOf({ model: 'a/b', ...fields })).toEqual(refused(param, message));
    });

    it('converts input to messages and keeps the other bytes', () => {
      const text = '{"model":"a/b", "input" : "größe", "temperature":1.0}';
      const { body } = parseChat(jsonBody(text));
      expect(body.bytes.toString()).toBe(
        '{"model":"a/b","temperature":1.0,"messages":[{"role":"user","content":"größe"}]}',
      );
      expect(body.value).not.toHaveProperty('input');
      expect(body.members.map(({ key }) => key)).toEqual(['model', 'temperature', 'messages']);
    });
  });

  describe('option fields', () => {
    it.each<[object, object]>([
      [{ stream: true }, { stream: true }],
      [{ stream: false }, { stream: false }],
      [{ n: 3 }, { choices: 3 }],
      [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
      [{ max_completion_tokens: 7 }, { maxOutputTokens: 7 }],
      [{ max_completion_tokens: 1, max_tokens: 9 }, { maxOutputTokens: 9 }],
      [{ max_completion_tokens: 9, max_tokens: null }, { maxOutputTokens: 9 }],
      [{ user: 'ann' }, { endUser: 'ann' }],
      [{ user: 'ann', safety_identifier: 'bob' }, { endUser: 'bob' }],
      [{ route: 'sort' }, { routing: { strategy: 'sort' } }],
      [{ route: 'fallback' }, { routing: { strategy: 'fallback' } }],
      [
        { provider: { order: ['a'], only: ['b'], ignore: ['c'], allow_fallbacks: false } },
        { routing: { order: ['a'], only: ['b'], ignore: ['c'], allowFallbacks: false } },
      ],
    ])('%j becomes %j', (fields, expected) => {
      expect(chatRequest({ ...fields })).toMatchObject(expected);
    });

    it('builds the prompt once, on demand', () => {
      const request = chatRequest();
      expect(request.prompt()).toBe(request.prompt());
    });
  });

  describe('fields that cost extra or refer to the vendor account', () => {
    it.each<[object, string]>([
      [{ service_tier: 1 }, 'service_tier'],
      [{ audio: { voice: 'x' } }, 'audio'],
      [{ data_sources: [{ type: 'azure_search' }] }, 'data_sources'],
      [{ modalities: ['text', 'audio'] }, 'modalities'],
      [
        { tools: [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }] },
        'tools.1.type',
      ],
      [
        { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
        'messages.0.content.0.file.file_id',
      ],
    ])('reports %j', (fields, param) => {
      expect(chatRequest({ ...fields }).accountBoundParam).toEqual({
        param,
        message: expect.stringContaining(`\`${param}\``) as unknown,
      });
    });

    it('reports a priced service tier only without other account-bound fields', () => {
      const tier = { service_tier: 'flex' };
      expect(chatRequest(tier).accountBoundParam).toMatchObject({
        param: 'service_tier',
        priced: { tier: 'flex' },
      });
      expect(chatRequest({ ...tier, audio: { voice: 'x' } }).accountBoundParam).toEqual({
        param: 'audio',
        message: expect.any(String) as unknown,
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
    ])('allows %j', (fields) => {
      expect(chatRequest(fields).accountBoundParam).toBeUndefined();
    });
  });

  it('accepts NUL and lone surrogates in every text', () => {
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

  it('parses a conversation of 30,000 messages', () => {
    const many = Array.from({ length: 30_000 }, () => ({ role: 'user', content: 'x' }));
    expect(chatRequest({ messages: many }).promptSize.characters).toBe(30_000);
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
