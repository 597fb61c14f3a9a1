import { describe, expect, it } from '@jest/globals';
import type { EmbeddingInput } from '../../canonical/work-request.js';
import { encodeCohereBatches, readCohereVectors } from './cohere-embeddings.js';

const texts = (count: number, text = (index: number) => `text ${index}`) =>
  ({ type: 'texts', texts: Array.from({ length: count }, (_, index) => text(index)) }) as const;

const encode = (input: EmbeddingInput, model = 'cohere.embed-english-v3') =>
  encodeCohereBatches(input, model);

describe(encodeCohereBatches.name, () => {
  it.each([
    [1, [1]],
    [96, [96]],
    [97, [96, 1]],
    [2_048, [...Array.from({ length: 21 }, () => 96), 32]],
  ])('splits %d texts into calls of %j', (count, expected) => {
    const batches = encode(texts(count));
    expect(batches.map((batch) => batch.count)).toEqual(expected);
    const sent = batches.flatMap(
      ({ body }) => (JSON.parse(body.toString()) as { texts: string[] }).texts,
    );
    expect(sent).toEqual(texts(count).texts);
  });

  it('always embeds documents', () => {
    const [batch] = encode(texts(1));
    expect(JSON.parse(batch!.body.toString())).toEqual({
      texts: ['text 0'],
      input_type: 'search_document',
    });
  });

  it('accepts 2,048 characters of any byte length, and names a longer text', () => {
    expect(encode(texts(1, () => '🙂'.repeat(2_048)))).toHaveLength(1);
    const tooLong = texts(3, (index) => 'x'.repeat(2_047 + index));
    expect(() => encode(tooLong)).toThrow(
      expect.objectContaining({ failure: 'context_length', param: 'input.2' }),
    );
  });

  it("rejects other makers' models", () => {
    expect(() => encode(texts(1), 'amazon.titan-embed-text-v2:0')).toThrow(
      expect.objectContaining({ failure: 'unsupported', param: 'model' }),
    );
  });

  it('rejects tokens', () => {
    expect(() => encode({ type: 'tokens', tokens: [[1]] })).toThrow(
      expect.objectContaining({ failure: 'unsupported', param: 'input' }),
    );
  });
});

describe(readCohereVectors.name, () => {
  const read = (body: unknown) => readCohereVectors(Buffer.from(JSON.stringify(body)), 2);

  it.each([{ embeddings: [[1], [2]] }, { embeddings: { float: [[1], [2]] } }])(
    'reads the vectors of %j',
    (body) => {
      expect(read(body)).toEqual([[1], [2]]);
    },
  );

  it.each([{}, { embeddings: [[1]] }, { embeddings: [[1], []] }, { embeddings: { int8: [] } }, []])(
    'rejects %j',
    (body) => {
      expect(() => read(body)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
    },
  );

  it('rejects invalid JSON', () => {
    expect(() => readCohereVectors(Buffer.from('<html>'), 1)).toThrow(
      expect.objectContaining({ failure: 'unreadable' }),
    );
  });
});
