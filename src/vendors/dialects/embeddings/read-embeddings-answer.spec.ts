import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../../canonical/usage.js';
import { UpstreamError } from '../../upstream-error.js';
import { maxBytesOfVectors, readEmbeddingsAnswer } from './read-embeddings-answer.js';

const read = (body: unknown, count = 2) =>
  readEmbeddingsAnswer(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), count);
const item = (index: unknown, embedding: unknown = [index]) => ({ index, embedding });

describe(readEmbeddingsAnswer.name, () => {
  it('puts vectors in the order of the items', () => {
    const usage = { prompt_tokens: 5, total_tokens: 5 };
    expect(read({ data: [item(1), item(0)], usage })).toEqual({
      vectors: [[0], [1]],
      usage: { ...NO_USAGE, inputTokens: 5 },
    });
  });

  it('takes their own order where none is named, and base64', () => {
    const data = [{ embedding: 'AACAPw==' }, { embedding: [0.5] }];
    expect(read({ data })).toEqual({ vectors: ['AACAPw==', [0.5]], usage: undefined });
  });

  it.each<[string, unknown]>([
    ['no JSON', '{"data":'],
    ['no object', []],
    ['nothing', {}],
    ['too few', { data: [item(0)] }],
    ['too many', { data: [item(0), item(1), item(2)] }],
    ['one twice', { data: [item(0), item(0)] }],
    ['a place beyond the last', { data: [item(0), item(2)] }],
    ['a place before the first', { data: [item(0), item(-1)] }],
    ['a place between', { data: [item(0), item(0.5)] }],
    ['a place that is none', { data: [item(0), item('1')] }],
    ['an item that is none', { data: [item(0), null] }],
    ['an empty vector', { data: [item(0), item(1, [])] }],
    ['words for numbers', { data: [item(0), item(1, ['x'])] }],
    ['no base64', { data: [item(0), item(1, 'ä')] }],
    ['half a float', { data: [item(0), item(1, 'AAA=')] }],
    ['a number that is no float', { data: [item(0), item(1, [1e39])] }],
    ['infinity in base64', { data: [item(0), item(1, 'AACAfw==')] }],
    ['what is no number in base64', { data: [item(0), item(1, 'AADAfw==')] }],
  ])('refuses %s', (_name, body) => {
    expect(() => read(body)).toThrow(UpstreamError);
    expect(() => read(body)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });
});

describe(maxBytesOfVectors.name, () => {
  it.each([
    [1, 0.5],
    [250, 62.75],
    [2_048, 192],
  ])('has so much for %i vectors: %d MB', (count, megabytes) => {
    expect(maxBytesOfVectors(count)).toBe(megabytes * 1024 * 1024);
  });
});
