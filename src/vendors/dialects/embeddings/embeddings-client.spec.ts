import { describe, expect, it } from '@jest/globals';
import { embeddingRequest } from '../../../../test/support/embedding-requests.js';
import { encodeEmbeddingsRequest } from './embeddings-client.js';

const encode = (fields: Record<string, unknown>): unknown =>
  JSON.parse(encodeEmbeddingsRequest(embeddingRequest(fields), 'theirs').toString());

describe(encodeEmbeddingsRequest.name, () => {
  it('exchanges the model and passes on what it does not know', () => {
    const fields = {
      input: ['Grüße', '東京'],
      encoding_format: 'base64',
      dimensions: 5,
      user: 'ann',
      input_type: 'query',
    };
    expect(encode(fields)).toEqual({ ...fields, model: 'theirs' });
  });

  it('keeps the gateway’s own fields and what is not set', () => {
    const fields = {
      models: null,
      provider: { only: ['a'] },
      route: 'sort',
      trace: {},
      dimensions: null,
      user: null,
      encoding_format: null,
    };
    expect(encode(fields)).toEqual({ model: 'theirs', input: 'Hi' });
  });
});
