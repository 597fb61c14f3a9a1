import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../platform/http/json-body.js';
import { translateResponsesInput } from './translate-responses-input.js';

const call = (call_id: string, name = 'f', args = '{}'): JsonObject => ({
  type: 'function_call',
  call_id,
  name,
  arguments: args,
});
const output = (call_id: string, text: unknown = 'done'): JsonObject => ({
  type: 'function_call_output',
  call_id,
  output: text,
});
const toolCall = (id: string, name = 'f', args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe(translateResponsesInput.name, () => {
  it('converts a string to a user message', () => {
    expect(translateResponsesInput('Hi 🙂')).toEqual([{ role: 'user', content: 'Hi 🙂' }]);
    expect(translateResponsesInput('')).toEqual([{ role: 'user', content: '' }]);
  });

  it('accepts messages with and without a type', () => {
    const items = [
      { role: 'developer', content: 'Be brief.' },
      { type: 'message', role: 'user', content: 'Hi' },
      { type: null, role: 'system', content: 'x' },
    ];
    expect(translateResponsesInput(items)).toEqual([
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'x' },
    ]);
  });

  it('translates every type of part', () => {
    const content = [
      { type: 'input_text', text: 'a' },
      { type: 'output_text', text: 'b', annotations: [] },
      { type: 'text', text: 'c' },
      { type: 'refusal', refusal: 'no' },
      { type: 'input_image', image_url: 'https://x/y.png', detail: 'low' },
      { type: 'input_image', image_url: 'data:,', detail: null },
      { type: 'input_file', file_data: 'data:,', filename: 'a.pdf' },
      { type: 'input_file', file_id: 'file-1' },
    ];
    expect(translateResponsesInput([{ role: 'user', content }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
          { type: 'refusal', refusal: 'no' },
          { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'data:,' } },
          { type: 'file', file: { file_data: 'data:,', filename: 'a.pdf' } },
          { type: 'file', file: { file_id: 'file-1' } },
        ],
      },
    ]);
  });

  it('merges parallel function calls into one assistant turn', () => {
    expect(
      translateResponsesInput([
        { role: 'user', content: 'Weather?' },
        call('a', 'f', '{"x":1}'),
        call('b', 'g'),
        output('a'),
        output('b', [{ type: 'output_text', text: 'rain' }]),
        call('c'),
        output('c'),
      ]),
    ).toEqual([
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [toolCall('a', 'f', '{"x":1}'), toolCall('b', 'g')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'rain' }] },
      { role: 'assistant', content: null, tool_calls: [toolCall('c')] },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
    ]);
  });

  it('appends calls to the preceding assistant message', () => {
    const items = [{ role: 'assistant', content: 'Let me see.' }, call('a'), call('b')];
    const copy = structuredClone(items);
    expect(translateResponsesInput(items)).toEqual([
      { role: 'assistant', content: 'Let me see.', tool_calls: [toolCall('a'), toolCall('b')] },
    ]);
    expect(items).toEqual(copy);
  });

  it.each<[string, JsonObject]>([
    ['input.1.type', { type: 'item_reference', id: 'x' }],
    ['input.1.type', { type: 'reasoning', summary: [] }],
    ['input.1.type', { type: 'web_search_call' }],
    ['input.1.type', { type: 1 }],
    ['input.1.role', { role: 'tool', content: 'x' }],
    ['input.1.role', { content: 'x' }],
    ['input.1.role', { role: 'constructor', content: 'x' }],
    ['input.1.content', { role: 'user' }],
    ['input.1.content', { role: 'user', content: 1 }],
    ['input.1.content.0', { role: 'user', content: ['x'] }],
    ['input.1.content.0', { role: 'user', content: [null] }],
    ['input.1.content.0.type', { role: 'user', content: [{ type: 'input_audio' }] }],
    ['input.1.content.0.type', { role: 'user', content: [{}] }],
    ['input.1.content.0.text', { role: 'user', content: [{ type: 'input_text' }] }],
    ['input.1.content.0.refusal', { role: 'user', content: [{ type: 'refusal', refusal: 1 }] }],
    [
      'input.1.content.0.image_url',
      { role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] },
    ],
    [
      'input.1.content.0.file_data',
      { role: 'user', content: [{ type: 'input_file', file_url: 'https://x/y.pdf' }] },
    ],
    ['input.1.call_id', { type: 'function_call', name: 'f', arguments: '' }],
    ['input.1.name', { type: 'function_call', call_id: 'a', arguments: '' }],
    ['input.1.arguments', { type: 'function_call', call_id: 'a', name: 'f', arguments: {} }],
    ['input.1.call_id', { type: 'function_call_output', output: 'x' }],
    ['input.1.output', { type: 'function_call_output', call_id: 'a' }],
    ['input.1.output.0', { type: 'function_call_output', call_id: 'a', output: ['x'] }],
  ])('names %s in the refusal of %j', (param, item) => {
    const items = [{ role: 'user', content: 'x' }, item];
    expect(() => translateResponsesInput(items)).toThrow(
      expect.objectContaining({
        status: 400,
        param,
        message: expect.stringMatching(
          /^(`input\.|Chat completions do not support items of type).*\.$/,
        ) as unknown,
      }),
    );
  });

  it('rejects an empty array', () => {
    expect(() => translateResponsesInput([])).toThrow(expect.objectContaining({ param: 'input' }));
  });
});
