import { describe, expect, it } from '@jest/globals';
import { embeddingRequest } from '../../../test/support/embedding-requests.js';
import { encodeVertexBatches, readVertexPredictions } from './vertex-embeddings.js';

const encode = (input: unknown, model = 'text-embedding-005', fields = {}) =>
  encodeVertexBatches(embeddingRequest({ input, ...fields }), model);
const countsOf = (...rest: Parameters<typeof encode>) => encode(...rest).map(({ count }) => count);
const texts = (count: number, text = 'x') => Array.from({ length: count }, () => text);

describe(encodeVertexBatches.name, () => {
  it('encodes texts and dimensions, and disables truncation', () => {
    const [batch] = encode(['a', 'b'], undefined, { dimensions: 64 });
    expect(JSON.parse(batch!.body.toString())).toEqual({
      instances: [{ content: 'a' }, { content: 'b' }],
      parameters: { autoTruncate: false, outputDimensionality: 64 },
    });
  });

  it('respects the limits on texts and tokens per call', () => {
    expect(countsOf(texts(251))).toEqual([250, 1]);
    expect(countsOf(texts(5, '東'.repeat(8_000)))).toEqual([2, 2, 1]);
    expect(countsOf(['x', '東'.repeat(30_000), 'x'])).toEqual([1, 1, 1]);
  });

  it('sends one text per call to models that accept only one', () => {
    expect(countsOf(texts(3), 'gemini-embedding-001')).toEqual([1, 1, 1]);
  });

  it('rejects tokens', () => {
    expect(() => encode([1, 2])).toThrow(expect.objectContaining({ failure: 'unsupported' }));
  });
});

describe(readVertexPredictions.name, () => {
  const prediction = (values: unknown, token_count?: number) => ({
    embeddings: { values, statistics: { truncated: false, token_count } },
  });
  const read = (predictions: unknown) =>
    readVertexPredictions(Buffer.from(JSON.stringify({ predictions })), 2);

  it('reads vectors and adds up tokens', () => {
    expect(read([prediction([1], 3), prediction([2], 4)])).toEqual({
      vectors: [[1], [2]],
      tokens: 7,
    });
  });

  it('reports no tokens when one count is missing', () => {
    expect(read([prediction([1], 3), prediction([2])]).tokens).toBeUndefined();
  });

  it.each([undefined, [], [prediction([1])], [prediction([1]), {}], [prediction([1]), null]])(
    'rejects %j',
    (predictions) => {
      expect(() => read(predictions)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
    },
  );
});
