import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { embeddingRequest } from '../../../../test/support/embedding-requests.js';
import { mayBeHedged, readHedge } from './hedge-option.js';

describe(readHedge.name, () => {
  it.each([
    ['1', 1],
    ['60000', 60_000],
    ['250', 250],
  ])('reads %s', (value, ms) => {
    expect(readHedge({ 'x-gateway-hedge-ms': value })).toBe(ms);
  });

  it('wants none without the header', () => expect(readHedge({})).toBeUndefined());

  it.each(['0', '60001', '-1', '1.5', '1e3', 'soon', '', ' 5', '100000'])('refuses %j', (value) => {
    expect(() => readHedge({ 'x-gateway-hedge-ms': value })).toThrow(
      expect.objectContaining({ status: 400, param: 'x-gateway-hedge-ms' }),
    );
  });
});

describe(mayBeHedged.name, () => {
  const chat = chatRequest({ model: 'openai/gpt' });
  it('takes text and vectors', () => {
    expect([mayBeHedged(chat), mayBeHedged(embeddingRequest({ model: 'a/b' }))]).toEqual([
      true,
      true,
    ]);
  });

  it.each([
    ['searches', chatRequest({ model: 'openai/gpt', web_search_options: {} })],
    [
      'tools of the vendor',
      chatRequest({ model: 'openai/gpt', tools: [{ type: 'code_interpreter' }] }),
    ],
    ['what nobody waits for', { ...chat, body: { ...chat.body, value: { background: true } } }],
    ['pictures', { ...embeddingRequest({ model: 'a/b' }), kind: 'image' as const }],
  ])('takes no %s', (_, request) => {
    expect(mayBeHedged(request as typeof chat)).toBe(false);
  });
});
