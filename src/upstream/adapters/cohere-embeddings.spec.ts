import { describe, expect, it } from '@jest/globals';
import { encodeCohereBatches, readCohereVectors } from './cohere-embeddings.js';

const texts = (count: number, text = (index: number) => `text ${index}`) =>
  ({ type: 'texts', texts: Array.from({ length: count }, (_, index) => text(index)) }) as const;

describe(encodeCohereBatches.name, () => {
  it.each([
    [1, [1]],
    [96, [96]],
    [97, [96, 1]],
    [2_048, [...Array.from({ length: 21 }, () => 96), 32]],
  ])('splits %d texts into calls of %j', (count, expected) => {
    const batches = encodeCohereBatches(texts(count));
    expect(batches.map((batch) => batch.count)).toEqual(expected);
    const sent = batches.flatMap(
      ({ body }) => (JSON.parse(body.toString()) as { texts: string[] }).texts,
    );
    expect(sent).toEqual(texts(count).texts);
  });

  it('always embeds documents', () => {
    const [batch] = encodeCohereBatches(texts(1));
    expect(JSON.parse(batch!.body.toString())).toEqual({
      texts: ['text 0'],
      input_type: 'search_document',
    });
  });

  it('takes 2,048 characters, however many bytes, and names the text with more', () => {
    expect(encodeCohereBatches(texts(1, () => '🙂'.repeat(2_048)))).toHaveLength(1);
    const tooLong = texts(3, (index) => 'x'.repeat(2_047 + index));
    expect(() => encodeCohereBatches(tooLong)).toThrow(
      expect.objectContaining({ failure: 'context_length', param: 'input.2' }),
    );
  });

  it('cannot do with tokens', () => {
    expect(() => encodeCohereBatches({ type: 'tokens', tokens: [[1]] })).toThrow(
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
    'refuses %j',
    (body) => {
      expect(() => read(body)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
    },
  );

  it('refuses what is no JSON', () => {
    expect(() => readCohereVectors(Buffer.from('<html>'), 1)).toThrow(
      expect.objectContaining({ failure: 'unreadable' }),
    );
  });
});
