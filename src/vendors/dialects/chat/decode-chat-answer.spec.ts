import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../../canonical/usage.js';
import { UpstreamError } from '../../upstream-error.js';
import { decodeChatAnswer } from './decode-chat-answer.js';

const decode = (answer: unknown): unknown => decodeChatAnswer(Buffer.from(JSON.stringify(answer)));
const answered = (message: object, finish_reason: string | null = 'stop'): object => ({
  id: 'x',
  choices: [{ index: 0, message, finish_reason }],
});

describe(decodeChatAnswer.name, () => {
  it('reads reasoning in content parts and a server-specific finish reason', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
    ];
    expect(decode(answered({ content }, 'model_length'))).toEqual([
      { type: 'start', id: 'x' },
      { type: 'reasoning', choice: 0, text: 'hm' },
      { type: 'text', choice: 0, text: 'a' },
      { type: 'finish', choice: 0, reason: 'length' },
    ]);
  });

  it('reads everything that a message can contain', () => {
    const logprobs = { content: [{ token: 'a' }] };
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    const call = (id: string, args: string): object => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: args },
    });
    const message = {
      role: 'assistant',
      reasoning_content: 'hm',
      content: 'a',
      refusal: 'no',
      tool_calls: [call('a', '{"x":1}'), call('b', '')],
    };
    expect(
      decode({
        id: 'x',
        choices: [{ index: 0, message, logprobs, finish_reason: 'tool_calls' }],
        usage,
      }),
    ).toEqual([
      { type: 'start', id: 'x' },
      { type: 'reasoning', choice: 0, text: 'hm' },
      { type: 'text', choice: 0, text: 'a', logprobs },
      { type: 'refusal', choice: 0, text: 'no' },
      { type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{"x":1}' },
      { type: 'tool_call', choice: 0, index: 1, id: 'b', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 1, text: '{}' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
      {
        type: 'usage',
        usage: {
          ...NO_USAGE,
          inputTokens: 10,
          outputTokens: 5,
          cacheReadTokens: 4,
          reasoningTokens: 3,
        },
      },
    ]);
  });

  it('reads several choices', () => {
    const choice = (index: number): object => ({
      index,
      message: { content: `t${index}` },
      finish_reason: 'length',
    });
    expect(decode({ choices: [choice(0), choice(1)] })).toEqual([
      { type: 'start' },
      { type: 'text', choice: 0, text: 't0' },
      { type: 'finish', choice: 0, reason: 'length' },
      { type: 'text', choice: 1, text: 't1' },
      { type: 'finish', choice: 1, reason: 'length' },
    ]);
  });

  it('accepts a finish reason without text, and text without a finish reason', () => {
    expect(decode(answered({ content: null }, 'content_filter'))).toContainEqual({
      type: 'finish',
      choice: 0,
      reason: 'content_filter',
    });
    expect(decode(answered({ content: 'a' }, null))).toEqual([
      { type: 'start', id: 'x' },
      { type: 'text', choice: 0, text: 'a' },
    ]);
  });

  it.each<[unknown, string]>([
    [{}, 'an empty answer'],
    [{ choices: [] }, 'an empty answer'],
    [answered({ content: '' }, null), 'an empty answer'],
    [[], 'an answer that is no JSON object'],
    [null, 'an answer that is no JSON object'],
    [answered({ tool_calls: [{ id: 'a' }] }, null), 'a tool call without a name'],
  ])('rejects %j', (answer, message) => {
    expect(() => decode(answer)).toThrow(new UpstreamError({ failure: 'unreadable', message }));
  });

  it('rejects truncated JSON and keeps it out of the message', () => {
    expect(() => decodeChatAnswer(Buffer.from('{"secret'))).toThrow(
      'an answer that is not JSON: SyntaxError',
    );
  });

  it('throws an error inside an answer', () => {
    const error = { message: 'slow down', code: 'rate_limit_exceeded' };
    expect(() => decode({ error })).toThrow(expect.objectContaining({ failure: 'rate_limited' }));
  });
});
