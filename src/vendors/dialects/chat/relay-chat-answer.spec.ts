import { describe, expect, it } from '@jest/globals';
import { relayChatAnswer } from './relay-chat-answer.js';

const message = { role: 'assistant', content: 'größe 🙂', refusal: null };
const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-2024-08-06',
  choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

const relay = (value: unknown, alias = 'openai/gpt-4o') =>
  relayChatAnswer(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), alias);

describe(relayChatAnswer.name, () => {
  it('changes the model and reads the data for the ledger', () => {
    const spelled = JSON.stringify(answer);
    expect(relay(answer)).toEqual([
      { type: 'start', id: 'chatcmpl-1' },
      {
        type: 'relay',
        dialect: 'chat',
        bytes: Buffer.from(spelled.replace('gpt-4o-2024-08-06', 'openai/gpt-4o')),
        hasContent: true,
        outputCharacters: 7,
        finishReason: 'stop',
        usage: expect.objectContaining({ inputTokens: 10, outputTokens: 5 }) as unknown,
      },
    ]);
  });

  it("maps a server's own finish reason to the interface's", () => {
    const [choice] = answer.choices;
    const [, event] = relay({ ...answer, choices: [{ ...choice, finish_reason: 'eos' }] });
    expect(event).toMatchObject({ finishReason: 'stop' });
    const { bytes } = event as { bytes: Buffer };
    expect(JSON.parse(bytes.toString())).toEqual({ ...answer, model: 'openai/gpt-4o' });
  });

  it('keeps the formatting of everything else', () => {
    const choices = '[{"index":0,"message":{"content":"\\u0041"},"finish_reason":"stop"}]';
    const [, event] = relay(
      `{ "n": 1.0, "mod\\u0065l" : "x", "big":12345678901234567890, "choices" : ${choices} }\n`,
      'a/$&"',
    );
    expect(event).toMatchObject({
      bytes: Buffer.from(
        `{ "n": 1.0, "mod\\u0065l" : "a/$&\\"", "big":12345678901234567890, "choices" : ${choices} }\n`,
      ),
    });
  });

  it.each<[string, object]>([
    ['missing', {}],
    ['null', { usage: null }],
    ['zero', { usage: { prompt_tokens: 0, completion_tokens: 0 } }],
    ['negative', { usage: { prompt_tokens: -1, completion_tokens: -5 } }],
    ['text', { usage: { prompt_tokens: '10', completion_tokens: '5' } }],
    ['huge', { usage: { prompt_tokens: 1e15, completion_tokens: 1e300 } }],
  ])('reports no usage when it is %s', (_, fields) => {
    const { usage: _usage, ...rest } = answer;
    expect(relay({ ...rest, ...fields })[1]).not.toHaveProperty('usage');
  });

  it.each<[string, object]>([
    ['a finish reason', { message: { content: '' }, finish_reason: 'content_filter' }],
    ['text', { message: { content: 'x' } }],
    ['text and an empty finish reason', { message: { content: 'x' }, finish_reason: '' }],
    ['reasoning', { message: { reasoning_content: 'x' } }],
    ['a refusal', { message: { refusal: 'x' } }],
    ['a tool call', { message: { tool_calls: [{ function: { name: '', arguments: '' } }] } }],
    ['an old function call', { message: { function_call: { name: 'f', arguments: '' } } }],
    ['audio', { message: { audio: { id: 'x' } } }],
  ])('accepts an answer with %s', (_, choice) => {
    const events = relay({ ...answer, choices: [choice] });
    expect(events[1]).toMatchObject({ type: 'relay', hasContent: true });
    const { finish_reason } = choice as { finish_reason?: string };
    if (finish_reason) expect(events[1]).toMatchObject({ finishReason: finish_reason });
    else expect(events[1]).not.toHaveProperty('finishReason');
  });

  it('adds up the characters of all choices and takes the first finish reason', () => {
    const choices = [
      { message: { content: 'ab' }, finish_reason: null },
      { message: { content: 'cde' }, finish_reason: 'length' },
      { message: { content: 'f' }, finish_reason: 'stop' },
    ];
    expect(relay({ ...answer, choices })[1]).toMatchObject({
      outputCharacters: 6,
      finishReason: 'length',
    });
  });

  it.each([
    '{}',
    '{"choices":[]}',
    '{"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":1}}',
    '{"choices":[{}]}',
    '{"choices":[null,1]}',
    '{"choices":[{"message":null,"finish_reason":null}]}',
    '{"choices":[{"message":{"content":""},"finish_reason":""}]}',
    '{"object":"list","data":[]}',
  ])('rejects %s as empty', (text) => {
    expect(() => relay(text)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });

  it.each(['', 'null', '[]', '"x"', '<html>', '{"choices":[', '\ufeff{}'])(
    'rejects %j as unreadable',
    (text) => {
      expect(() => relay(text)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
    },
  );

  it.each<[unknown, object]>([
    [
      { message: 'slow', code: 429 },
      { failure: 'rate_limited', status: 429 },
    ],
    [
      { message: 'slow', code: '429' },
      { failure: 'rate_limited', status: 429 },
    ],
    [
      { message: 'bad', code: 400, param: 'stop' },
      { failure: 'caller', param: 'stop' },
    ],
    [{ message: 'bad', type: 'invalid_request_error' }, { failure: 'caller' }],
    [{ message: 'x', code: 'context_length_exceeded' }, { failure: 'context_length' }],
    [
      { message: 'x', code: 'constructor' },
      { failure: 'server', status: 500 },
    ],
    [
      { message: 'x', code: 200 },
      { failure: 'server', status: 500 },
    ],
    ['it broke', { failure: 'server', message: 'it broke' }],
    [true, { failure: 'server' }],
  ])('classifies error %j with status 200', (error, expected) => {
    expect(() => relay({ error })).toThrow(expect.objectContaining(expected));
    expect(() => relay({ ...answer, error })).toThrow(expect.objectContaining(expected));
  });

  it('ignores a null error', () => {
    expect(relay({ ...answer, error: null })).toHaveLength(2);
  });
});
