import { describe, expect, it } from '@jest/globals';
import { assertNotFailed } from './classify-chat-error.js';
import { ChatStreamDecoder } from './chat-stream-decoder.js';
import { ChatStreamRelay } from './chat-stream-relay.js';
import { decodeChatAnswer } from './decode-chat-answer.js';
import { relayChatAnswer } from './relay-chat-answer.js';

const failed = (error?: object) => ({
  index: 0,
  message: { role: 'assistant', content: 'So far' },
  delta: { content: 'So far' },
  finish_reason: 'error',
  ...(error && { error }),
});

describe(assertNotFailed.name, () => {
  it.each([
    [{ code: 502, message: 'down' }, 'server'],
    [{ code: 429, message: 'slow' }, 'rate_limited'],
    [{ code: 'context_length_exceeded', message: 'long' }, 'context_length'],
    [undefined, 'server'],
  ])('throws what a choice with the error %j says', (error, failure) => {
    expect(() => assertNotFailed(failed(error))).toThrow(expect.objectContaining({ failure }));
  });

  it.each([{ finish_reason: 'stop' }, { finish_reason: null, error: null }, {}])(
    'passes %j',
    (choice) => {
      expect(() => assertNotFailed(choice)).not.toThrow();
    },
  );

  it('is asked wherever choices are read', () => {
    const answer = { id: 'a', model: 'm', choices: [failed({ code: 502, message: 'down' })] };
    const bytes = Buffer.from(JSON.stringify(answer));
    const expected = expect.objectContaining({
      failure: 'server',
      message: 'down',
    }) as unknown as Error;
    expect(() => relayChatAnswer(bytes, 'alias')).toThrow(expected);
    expect(() => decodeChatAnswer(bytes)).toThrow(expected);
    for (const reader of [
      new ChatStreamRelay({ alias: 'alias', includeUsage: false }),
      new ChatStreamDecoder(),
    ]) {
      reader.push(Buffer.from(`data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`));
      expect(reader.failure).toEqual(expected);
      expect(() => reader.end()).toThrow(expected);
    }
  });
});
