import { describe, expect, it } from '@jest/globals';
import { UpstreamError } from '../../upstream-error.js';
import type { ConverseAnswerOptions } from './converse-answer-reader.js';
import { decodeConverseAnswer } from './decode-converse-answer.js';

const decode = (body: unknown, overrides: Partial<ConverseAnswerOptions> = {}) =>
  decodeConverseAnswer(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), {
    signatureIssuer: 'maker',
    redactedIssuer: 'maker-redacted',
    jsonTool: undefined,
    ...overrides,
  });

const answer = (content: unknown, rest: object = { stopReason: 'end_turn' }) => ({
  metrics: { latencyMs: 1 },
  output: { message: { role: 'assistant', content } },
  ...rest,
});

describe(decodeConverseAnswer.name, () => {
  it('reads every kind of block as if streamed', () => {
    const events = decode(
      answer(
        [
          { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
          { reasoningContent: { reasoningText: { text: 'Unsigned.' } } },
          { reasoningContent: { redactedContent: 'AAAA' } },
          { text: 'Hello' },
          { citationsContent: { content: [{ text: ', ' }, { text: 'world' }], citations: [] } },
          { toolUse: { toolUseId: 'a', name: 'f', input: { city: 'Zürich' }, type: 'tool_use' } },
          { toolUse: { toolUseId: 'b', name: 'g' } },
          { somethingNew: {} },
        ],
        {
          stopReason: 'tool_use',
          usage: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 3 },
        },
      ),
    );
    expect(events).toEqual([
      { type: 'start' },
      { type: 'reasoning', choice: 0, text: 'Hm.' },
      { type: 'reasoning', choice: 0, text: '', signature: 'maker:c2ln' },
      { type: 'reasoning', choice: 0, text: 'Unsigned.' },
      { type: 'reasoning', choice: 0, text: '', signature: 'maker-redacted:AAAA' },
      { type: 'text', choice: 0, text: 'Hello' },
      { type: 'text', choice: 0, text: ', ' },
      { type: 'text', choice: 0, text: 'world' },
      { type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{"city":"Zürich"}' },
      { type: 'tool_call', choice: 0, index: 1, id: 'b', name: 'g' },
      { type: 'tool_arguments', choice: 0, index: 1, text: '{}' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
      { type: 'usage', usage: expect.objectContaining({ inputTokens: 4, cacheReadTokens: 3 }) },
    ]);
  });

  it('turns the input of the tool that carries the answer into text', () => {
    const content = [
      { text: 'Sure!' },
      { toolUse: { toolUseId: 'a', name: 'answer', input: { a: [1, null] } } },
    ];
    expect(decode(answer(content, { stopReason: 'tool_use' }), { jsonTool: 'answer' })).toEqual([
      { type: 'start' },
      { type: 'text', choice: 0, text: '{"a":[1,null]}' },
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
  });

  it('reports the stop sequence', () => {
    const fields = {
      stopReason: 'stop_sequence',
      additionalModelResponseFields: { stop_sequence: 'END' },
    };
    expect(decode(answer([{ text: 'x' }], fields)).at(-1)).toMatchObject({ stopSequence: 'END' });
  });

  it('accepts an answer without content', () => {
    expect(decode(answer([], { stopReason: 'content_filtered' }))).toEqual([
      { type: 'start' },
      { type: 'finish', choice: 0, reason: 'content_filter' },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['nothing', '', 'unreadable'],
    ['HTML', '<html>', 'unreadable'],
    ['truncated JSON', '{"output":{"message":', 'unreadable'],
    ['{}', {}, 'unreadable'],
    ['a list', [], 'unreadable'],
    ['no message', { output: {}, stopReason: 'end_turn' }, 'unreadable'],
    ['content of another type', answer('text'), 'unreadable'],
    ['a call without a name', answer([{ toolUse: { toolUseId: 'a' } }]), 'unreadable'],
    ['no stop reason', answer([{ text: 'Hi' }], {}), 'cut'],
  ])('rejects %s', (_what, body, failure) => {
    const run = () => decode(body);
    expect(run).toThrow(UpstreamError);
    expect(run).toThrow(expect.objectContaining({ failure }));
  });
});
