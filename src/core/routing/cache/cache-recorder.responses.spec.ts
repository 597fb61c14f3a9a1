import { describe, expect, it } from '@jest/globals';
import { readResponseOutput } from './cache-recorder.js';

const message = (...content: object[]): object => ({ type: 'message', role: 'assistant', content });
const text = { type: 'output_text', text: 'Hi', annotations: [], logprobs: [] };
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };

describe(readResponseOutput.name, () => {
  it('reads texts, reasoning, refusals and calls in order', () => {
    const logprobs = [{ token: 'Hi' }];
    const output = [
      {
        type: 'reasoning',
        summary: [{ text: 'one' }, { text: 'two' }],
        encrypted_content: 'gAAA',
      },
      { type: 'reasoning', summary: [], content: [{ text: 'three' }], encrypted_content: null },
      message(text, { type: 'refusal', refusal: 'No.' }, { ...text, logprobs }),
      call,
      { ...call, call_id: 'd', arguments: '{"a":1}' },
    ];
    expect(readResponseOutput(output)).toEqual([
      { type: 'reasoning', choice: 0, text: 'one\n\ntwo', signature: 'gAAA' },
      { type: 'reasoning', choice: 0, text: 'three' },
      { type: 'text', choice: 0, text: 'Hi' },
      { type: 'refusal', choice: 0, text: 'No.' },
      { type: 'text', choice: 0, text: 'Hi', logprobs },
      { type: 'tool_call', choice: 0, index: 0, id: 'c', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{}' },
      { type: 'tool_call', choice: 0, index: 1, id: 'd', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 1, text: '{"a":1}' },
    ]);
  });

  it.each<[string, unknown]>([
    ['no array', undefined],
    ['a null item', [null]],
    ['an item of another type', [{ type: 'web_search_call', id: 'ws' }]],
    ['a call of a custom tool', [{ type: 'custom_tool_call', call_id: 'c', name: 'f', input: '' }]],
    ['a part of another type', [message(text, { type: 'output_audio' })]],
    ['a text with annotations', [message({ ...text, annotations: [{ type: 'url_citation' }] })]],
    ['a text that is not a string', [message({ ...text, text: 1 })]],
    ['a call without an id', [{ ...call, call_id: undefined }]],
  ])('rejects %s', (_name, output) => {
    expect(readResponseOutput(output)).toBeUndefined();
  });
});
