import { describe, expect, it } from '@jest/globals';
import { embeddingRequest } from '../../../../test/support/embedding-requests.js';
import { drivenTransport, sendJson } from '../../../../test/support/driven-transport.js';
import { LONG_LIMITS } from '../../../../test/support/fake-connection.js';
import { EmbeddingsClient, encodeEmbeddingsRequest } from './embeddings-client.js';

const encode = (fields: Record<string, unknown>): unknown =>
  JSON.parse(encodeEmbeddingsRequest(embeddingRequest(fields), 'theirs').toString());

describe(encodeEmbeddingsRequest.name, () => {
  it('replaces the model and passes on unknown fields', () => {
    const fields = {
      input: ['Grüße', '東京'],
      encoding_format: 'base64',
      dimensions: 5,
      user: 'ann',
      input_type: 'query',
    };
    expect(encode(fields)).toEqual({ ...fields, model: 'theirs' });
  });

  it("keeps out the gateway's own fields and null values", () => {
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

describe(EmbeddingsClient.name, () => {
  it('limits the answer to the size of its vectors', async () => {
    const answer = { data: [{ embedding: [1] }], more: 'x'.repeat(600_000) };
    const client = new EmbeddingsClient(
      {
        embeddingsUrl: () => new URL('http://vectors.test'),
        authorization: {},
        apiKey: undefined,
      },
      drivenTransport(sendJson(answer)).transport,
    );
    const read = async (input: string[]) => {
      const request = embeddingRequest({ input });
      const signal = new AbortController().signal;
      const call = { request, alias: 'a/b', upstreamModel: 'b', limits: LONG_LIMITS, signal };
      for await (const _event of client.embed(call).events);
    };
    await expect(read(['a'])).rejects.toThrow('an answer of more than 524288 bytes');
    await expect(read(['a', 'b'])).rejects.toThrow('not the 2 vectors requested');
  });
});
