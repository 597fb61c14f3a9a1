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

  it('returns undefined without the header', () => expect(readHedge({})).toBeUndefined());

  it.each(['0', '60001', '-1', '1.5', '1e3', 'soon', '', ' 5', '100000'])('rejects %j', (value) => {
    expect(() => readHedge({ 'x-gateway-hedge-ms': value })).toThrow(
      expect.objectContaining({ status: 400, param: 'x-gateway-hedge-ms' }),
    );
  });
});

describe(mayBeHedged.name, () => {
  const chat = chatRequest({ model: 'openai/gpt' });
  it('allows text and embeddings', () => {
    expect([mayBeHedged(chat), mayBeHedged(embeddingRequest({ model: 'a/b' }))]).toEqual([
      true,
      true,
    ]);
  });

  it.each([
    ['web searches', chatRequest({ model: 'openai/gpt', web_search_options: {} })],
    ['vendor tools', chatRequest({ model: 'openai/gpt', tools: [{ type: 'code_interpreter' }] })],
    ['background responses', { ...chat, body: { ...chat.body, value: { background: true } } }],
    ['images', { ...embeddingRequest({ model: 'a/b' }), kind: 'image' as const }],
  ])('does not allow %s', (_, request) => {
    expect(mayBeHedged(request as typeof chat)).toBe(false);
  });
});
