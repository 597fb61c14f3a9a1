import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../../canonical/usage.js';
import { UpstreamError } from '../../upstream-error.js';
import { maxBytesOfVectors, readEmbeddingsAnswer } from './read-embeddings-answer.js';

const read = (body: unknown, count = 2) =>
  readEmbeddingsAnswer(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), count);
const item = (index: unknown, embedding: unknown = [index]) => ({ index, embedding });

describe(readEmbeddingsAnswer.name, () => {
  it('orders vectors by item', () => {
    const usage = { prompt_tokens: 5, total_tokens: 5 };
    expect(read({ data: [item(1), item(0)], usage })).toEqual({
      vectors: [[0], [1]],
      usage: { ...NO_USAGE, inputTokens: 5 },
    });
  });

  it('accepts vectors without indexes in their given order, and base64', () => {
    const data = [{ embedding: 'AACAPw==' }, { embedding: [0.5] }];
    expect(read({ data })).toEqual({ vectors: ['AACAPw==', [0.5]], usage: undefined });
  });

  it.each<[string, unknown]>([
    ['invalid JSON', '{"data":'],
    ['an array', []],
    ['an empty object', {}],
    ['too few', { data: [item(0)] }],
    ['too many', { data: [item(0), item(1), item(2)] }],
    ['a duplicate', { data: [item(0), item(0)] }],
    ['an index beyond the last', { data: [item(0), item(2)] }],
    ['a negative index', { data: [item(0), item(-1)] }],
    ['a fractional index', { data: [item(0), item(0.5)] }],
    ['an index of another type', { data: [item(0), item('1')] }],
    ['a null item', { data: [item(0), null] }],
    ['an empty vector', { data: [item(0), item(1, [])] }],
    ['strings instead of numbers', { data: [item(0), item(1, ['x'])] }],
    ['invalid base64', { data: [item(0), item(1, 'ä')] }],
    ['half a float', { data: [item(0), item(1, 'AAA=')] }],
    ['a number beyond 32-bit floats', { data: [item(0), item(1, [1e39])] }],
    ['infinity in base64', { data: [item(0), item(1, 'AACAfw==')] }],
    ['NaN in base64', { data: [item(0), item(1, 'AADAfw==')] }],
  ])('rejects %s', (_name, body) => {
    expect(() => read(body)).toThrow(UpstreamError);
    expect(() => read(body)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });
});

describe(maxBytesOfVectors.name, () => {
  it.each([
    [1, 0.5],
    [250, 62.75],
    [2_048, 192],
  ])('limits the answer for %i vectors to %d MB', (count, megabytes) => {
    expect(maxBytesOfVectors(count)).toBe(megabytes * 1024 * 1024);
  });
});
