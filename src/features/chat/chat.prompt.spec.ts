import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { chatPrompt } from './chat.prompt.js';

const promptOf = (fields: Record<string, unknown>) => chatPrompt(chatRequest(fields).body.value);

describe(chatPrompt.name, () => {
  it('reads a conversation with every type of part', () => {
    const { messages } = promptOf({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
            { type: 'image_url', image_url: 'https://x/z.png' },
            { type: 'file', file: { file_data: 'data:text/plain;base64,SGk=', filename: 'a.pdf' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'hologram', data: 1 },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me see.',
          refusal: 'no',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'b', type: 'custom', custom: { name: 'g', input: 'free' } },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 'a',
          content: [
            { type: 'text', text: 'do' },
            { type: 'text', text: 'ne' },
          ],
        },
        { role: 'function', name: 'f', content: null },
      ],
    });
    expect(messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        name: 'ann',
        parts: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { kind: 'url', url: 'https://x/y.png' }, detail: 'low' },
          { type: 'image', source: { kind: 'url', url: 'https://x/z.png' } },
          {
            type: 'document',
            source: { kind: 'inline', mediaType: 'text/plain', data: 'SGk=' },
            filename: 'a.pdf',
          },
          { type: 'audio', data: 'AAAA', format: 'wav' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Let me see.' },
          { type: 'refusal', text: 'no' },
          { type: 'tool_call', id: 'a', name: 'f', arguments: '{}' },
          { type: 'tool_call', id: 'b', name: 'g', arguments: 'free' },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            toolCallId: 'a',
            parts: [
              { type: 'text', text: 'do' },
              { type: 'text', text: 'ne' },
            ],
          },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool_result', toolCallId: 'f', parts: [] }] },
    ]);
  });

  it('reads functions and drops other tools', () => {
    const parameters = { type: 'object', properties: {} };
    const { tools, droppedFields } = promptOf({
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters, strict: true } },
        { type: 'function', function: { name: 'g', description: null, parameters: null } },
        { type: 'custom', custom: { name: 'c' } },
      ],
    });
    expect(tools).toEqual([
      { name: 'f', description: 'd', parameters, strict: true },
      { name: 'g' },
    ]);
    expect(droppedFields).toEqual(['tools.2']);
  });

  it.each<[unknown, unknown]>([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    ['whatever', undefined],
    [null, undefined],
    [{ type: 'function', function: { name: 'f' } }, { name: 'f' }],
    [{ type: 'allowed_tools' }, undefined],
    [{ type: 'custom', custom: { name: 'f' } }, undefined],
  ])('reads tool_choice %j as %j, and names what it cannot read', (choice, expected) => {
    const { toolChoice, droppedFields } = promptOf({ tool_choice: choice });
    expect(toolChoice).toEqual(expected);
    expect(droppedFields).toEqual(choice !== null && expected === undefined ? ['tool_choice'] : []);
  });

  it.each(['auto', 'required'])('keeps only allowed tools, in mode %s', (mode) => {
    const tool = (name: string) => ({ type: 'function', function: { name } });
    const prompt = promptOf({
      tools: [tool('f'), tool('g'), tool('h')],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode, tools: [tool('h'), tool('f'), { type: 'custom' }, 'x'] },
      },
    });
    expect(prompt).toMatchObject({
      tools: [{ name: 'f' }, { name: 'h' }],
      toolChoice: mode,
      droppedFields: [],
    });
  });

  it.each<[unknown, unknown]>([
    [null, undefined],
    [{ type: 'text' }, { type: 'text' }],
    [{ type: 'json_object' }, { type: 'json_object' }],
    [{ type: 'json_schema' }, { type: 'text' }],
    [
      { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
    ],
    [
      { type: 'json_schema', json_schema: { name: 'n', schema: null, strict: null } },
      { type: 'json_schema', name: 'n', schema: {} },
    ],
  ])('reads response_format %j', (format, expected) => {
    expect(promptOf({ response_format: format }).responseFormat).toEqual(expected);
  });

  it.each<[object, unknown]>([
    [{}, undefined],
    [{ reasoning: {} }, undefined],
    [{ reasoning: { effort: 'low' } }, { effort: 'low' }],
    [{ reasoning_effort: 'high', reasoning: { effort: 'low' } }, { effort: 'high' }],
    [{ reasoning: { max_tokens: 0 } }, { maxTokens: 0 }],
  ])('reads reasoning from %j', (fields, expected) => {
    expect(promptOf({ ...fields }).reasoning).toEqual(expected);
  });

  it('names a response format that has no name', () => {
    const response_format = { type: 'json_schema', json_schema: { schema: {} } };
    expect(promptOf({ response_format }).responseFormat).toEqual({
      type: 'json_schema',
      name: 'response',
      schema: {},
    });
  });

  it('drops a file in a vendor account', () => {
    const content = [{ type: 'file', file: { file_id: 'file-1' } }];
    const { messages, droppedFields } = promptOf({ messages: [{ role: 'user', content }] });
    expect(messages[0]?.parts).toEqual([]);
    expect(droppedFields).toEqual(['messages.0.content.0']);
  });

  it('reads sampling options and keeps zero and false', () => {
    const fields = {
      temperature: 0,
      top_p: 1,
      frequency_penalty: -2,
      presence_penalty: 2,
      seed: 0,
      logit_bias: { 1: -100 },
      logprobs: false,
      top_logprobs: 0,
      stop: '\n',
      parallel_tool_calls: false,
    };
    const prompt = promptOf(fields);
    expect(prompt.sampling).toEqual({
      temperature: 0,
      topP: 1,
      frequencyPenalty: -2,
      presencePenalty: 2,
      seed: 0,
      logitBias: { 1: -100 },
      logprobs: false,
      topLogprobs: 0,
      stop: ['\n'],
    });
    expect(prompt.parallelToolCalls).toBe(false);
    expect(promptOf({ stop: ['a', 'b'] }).sampling).toEqual({ stop: ['a', 'b'] });
    expect(promptOf({}).sampling).toEqual({});
  });

  it('reads data URLs, plain data and cache marks', () => {
    const file = (file_data: string) => ({ type: 'file', file: { file_data } });
    const { messages, tools } = promptOf({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
            { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } },
            { type: 'image_url', image_url: { url: 'data:image/PNG;charset=x;base64,iVBO' } },
            file('data:application/pdf;base64,JVBE'),
            file('JVBE'),
          ],
        },
      ],
      tools: [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }],
    });
    const inline = (mediaType: string, data: string) => ({ kind: 'inline', mediaType, data });
    expect(messages[0]?.parts).toEqual([
      { type: 'text', text: 'a', cacheControl: { ttl: '5m' } },
      { type: 'text', text: 'b', cacheControl: { ttl: '1h' } },
      { type: 'image', source: inline('image/png', 'iVBO') },
      { type: 'document', source: inline('application/pdf', 'JVBE') },
      { type: 'document', source: inline('application/pdf', 'JVBE') },
    ]);
    expect(tools).toEqual([{ name: 'f', cacheControl: { ttl: '5m' } }]);
  });

  it('reads the signed reasoning of earlier turns', () => {
    const { messages } = promptOf({
      messages: [
        {
          role: 'assistant',
          content: 'So.',
          reasoning_details: [
            { type: 'reasoning.text', text: 'hm', signature: 'a:1' },
            { type: 'reasoning.encrypted', data: 'a:2' },
            { type: 'reasoning.encrypted', id: 'call', data: 'g:3' },
            'no object',
          ],
          tool_calls: [{ id: 'call', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
    });
    expect(messages[0]?.parts).toEqual([
      { type: 'reasoning', text: 'hm', signature: 'a:1' },
      { type: 'reasoning', text: '', signature: 'a:2' },
      { type: 'text', text: 'So.' },
      { type: 'tool_call', id: 'call', name: 'f', arguments: '{}', signature: 'g:3' },
    ]);
  });

  it('lists dropped fields', () => {
    const prompt = promptOf({ user: 'ann', top_k: 4, verbosity: 'low', metadata: {}, x: null });
    expect(prompt).toMatchObject({ endUser: 'ann', droppedFields: ['verbosity', 'metadata'] });
    expect(prompt.sampling).toEqual({ topK: 4 });
  });

  it('lists dropped reasoning options and parts', () => {
    const part = { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } };
    const prompt = promptOf({
      reasoning: { effort: 'low', max_tokens: 1, enabled: true, exclude: true, summary: 'auto' },
      messages: [
        { role: 'system', content: 'x' },
        { role: 'user', content: [{ type: 'text', text: 'y' }, part] },
      ],
    });
    expect(prompt.droppedFields).toEqual([
      'reasoning.exclude',
      'reasoning.summary',
      'messages.1.content.1',
    ]);
    expect(promptOf({ reasoning: { exclude: false, summary: null } }).droppedFields).toEqual([]);
  });
});
