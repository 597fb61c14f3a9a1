import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../test/support/chat-requests.js';
import { embeddingRequest } from '../../test/support/embedding-requests.js';
import { messagesRequest } from '../../test/support/messages-requests.js';
import {
  requestOptionsOf,
  readRequestOptions,
  type RequestPreferences,
} from './request-options.js';

const asked = (
  fields: Record<string, unknown>,
  wishes: RequestPreferences = {},
  conversation?: string,
) => requestOptionsOf(chatRequest(fields), wishes, conversation);

describe(requestOptionsOf.name, () => {
  it('returns undefined when only a model is requested', () => {
    expect(asked({ stream: true, temperature: 1, service_tier: 'auto' })).toBeUndefined();
    expect(asked({}, { recovery: 'off' })).toBeUndefined();
    expect(requestOptionsOf(embeddingRequest(), {}, undefined)).toBeUndefined();
  });

  it.each<[Record<string, unknown>, unknown]>([
    [{ models: ['openai/a', 'b/c'] }, { models: ['openai/gpt-4o', 'openai/a', 'b/c'] }],
    [{ provider: { order: ['a', 'b'] } }, { order: ['a', 'b'] }],
    [{ provider: { only: ['a'] } }, { only: ['a'] }],
    [{ provider: { ignore: ['a'] } }, { ignore: ['a'] }],
    [{ provider: { allow_fallbacks: false } }, { allow_fallbacks: false }],
    [{ provider: { sort: 'latency' } }, { sort: { by: 'latency', partition: 'model' } }],
    [{ route: 'sort' }, { route: 'sort' }],
    [
      { provider: { max_price: { prompt: 3, completion: '12.5' } } },
      { max_price: { prompt: '3', completion: '12.5' } },
    ],
    [{ max_tokens: 20 }, { max_tokens: 20 }],
    [{ n: 3 }, { n: 3 }],
    [{ service_tier: 'flex' }, { service_tier: 'flex', own_account_for: 'service_tier' }],
  ])('keeps %j and reads it back', (fields, kept) => {
    expect(asked(fields)).toEqual(kept);
    expect(readRequestOptions(JSON.parse(JSON.stringify(asked(fields))))).toEqual(kept);
  });

  it('keeps price selectors in the words of the body', () => {
    const chosen = { inference_geo: 'us', size: '1024x1536', quality: 'high' };
    expect(requestOptionsOf(embeddingRequest(chosen), {}, undefined)).toEqual(chosen);
    expect(readRequestOptions(chosen)).toEqual(chosen);
  });

  it('keeps options from headers and the conversation hash', () => {
    const costLimit = { credits: 7, mode: 'fit' as const };
    const wishes: RequestPreferences = { recovery: 'any', hedgeMs: 300, costLimit };
    const kept = {
      ...{ max_cost: 7, max_cost_mode: 'fit', recovery: 'any', hedge_ms: 300 },
      conversation: 'abc',
    };
    expect(asked({}, wishes, 'abc')).toEqual(kept);
    expect(readRequestOptions(asked({}, wishes, 'abc'))).toEqual(kept);
  });

  it('keeps the search limit', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }];
    const request = messagesRequest({ max_tokens: 5, tools });
    expect(requestOptionsOf(request, {}, undefined)).toMatchObject({
      max_tokens: 5,
      web_searches: 3,
    });
  });

  it('omits prompt texts', () => {
    const messages = [{ role: 'user', content: 'secret words' }];
    const text = JSON.stringify(asked({ messages, user: 'ann', max_tokens: 5, stop: ['secret'] }));
    expect(text).toBe('{"max_tokens":5}');
  });

  it('omits lists that are too long and marks the row as cut', () => {
    const order = Array.from({ length: 60 }, (_, index) => `provider-${index}`.padEnd(60, 'x'));
    expect(asked({ provider: { order, only: ['a'] }, max_tokens: 5 })).toEqual({
      ...{ is_cut: true, max_tokens: 5 },
    });
  });
});

describe(readRequestOptions.name, () => {
  it.each([null, 'text', [], {}, { max_tokens: -1, n: 'two', order: 'a', sort: { by: 'luck' } }])(
    'reads nothing from %j',
    (value) => {
      expect(readRequestOptions(value)).toBeUndefined();
    },
  );
});
