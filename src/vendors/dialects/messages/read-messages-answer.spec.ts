import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../../canonical/usage.js';
import { decodeMessagesAnswer, relayMessagesAnswer } from './read-messages-answer.js';
const message = (fields: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x-20260101',
  content: [{ type: 'text', text: 'Größe 🙂' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
  ...fields,
});
const bytesOf = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const relay = (value: unknown) => relayMessagesAnswer(bytesOf(value), 'anthropic/claude-x');
const decode = (value: unknown, jsonTool?: string) =>
  decodeMessagesAnswer(bytesOf(value), { signatureIssuer: 'maker', jsonTool });
const USAGE = { ...NO_USAGE, inputTokens: 10, outputTokens: 5 };

describe(relayMessagesAnswer.name, () => {
  it('relays the bytes under the alias and reads the data for the ledger', () => {
    const answer = message({
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        { type: 'text', text: 'Größe 🙂' },
        { type: 'tool_use', id: 'a', name: 'look', input: { b: 1 } },
      ],
      stop_reason: 'tool_use',
      future: { a: 1 },
    });
    expect(relay(answer)).toEqual([
      { type: 'start', id: 'msg_1' },
      {
        type: 'relay',
        dialect: 'messages',
        bytes: bytesOf({ ...answer, model: 'anthropic/claude-x' }),
        hasContent: true,
        outputCharacters: 2 + 7 + 'look{"b":1}'.length,
        finishReason: 'tool_calls',
        usage: USAGE,
      },
    ]);
  });

  it('works without usage', () => {
    expect(relay(message({ usage: undefined }))[1]).not.toHaveProperty('usage');
  });
});

describe(decodeMessagesAnswer.name, () => {
  it('reads every known block', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      { type: 'text', text: 'Hello', citations: [] },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } },
      { type: 'tool_use', id: 'toolu_2', name: 'stay', input: {} },
      { type: 'future' },
      null,
    ];
    expect(decode(message({ content, stop_reason: 'tool_use' }))).toEqual([
      { type: 'start', id: 'msg_1' },
      { type: 'reasoning', choice: 0, text: 'hm' },
      { type: 'reasoning', choice: 0, text: '', signature: 'maker:c2ln' },
      { type: 'reasoning', choice: 0, text: '', signature: 'maker:redacted:ZGF0YQ==' },
      { type: 'text', choice: 0, text: 'Hello' },
      { type: 'tool_call', choice: 0, index: 0, id: 'toolu_1', name: 'look' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{"a":1}' },
      { type: 'tool_call', choice: 0, index: 1, id: 'toolu_2', name: 'stay' },
      { type: 'tool_arguments', choice: 0, index: 1, text: '{}' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
      { type: 'usage', usage: USAGE },
    ]);
  });

  it('turns the arguments of the JSON tool into text', () => {
    const content = [{ type: 'tool_use', id: 'a', name: 'json', input: { b: [1] } }];
    expect(decode(message({ content, stop_reason: 'tool_use' }), 'json').slice(1, 3)).toEqual([
      { type: 'text', choice: 0, text: '{"b":[1]}' },
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
  });

  it('accepts an empty answer and reports its stop sequence', () => {
    const ended = { content: [], stop_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(decode(message(ended))).toMatchObject([
      { type: 'start' },
      { type: 'finish', reason: 'stop', stopSequence: 'END' },
      { type: 'usage' },
    ]);
  });
});

describe.each<[string, (value: unknown) => unknown]>([
  ['relayed', relay],
  ['decoded', decode],
])('an answer that is %s', (_, read) => {
  it.each<[unknown, string]>([
    ['', 'unreadable'],
    ['{"id":', 'unreadable'],
    ['<html>', 'unreadable'],
    ['[]', 'unreadable'],
    ['null', 'unreadable'],
    ['{}', 'unreadable'],
    [message({ content: 'text' }), 'unreadable'],
    [message({ stop_reason: null }), 'cut'],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 'server'],
    [{ error: { type: 'authentication_error', message: 'x' } }, 'operator'],
  ])('as %j fails: %s', (value, failure) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ failure }));
  });
});
