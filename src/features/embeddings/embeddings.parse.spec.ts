import { describe, expect, it } from '@jest/globals';
import { embeddingRequest } from '../../../test/support/embedding-requests.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { parseEmbeddings } from './embeddings.parse.js';

describe(parseEmbeddings.name, () => {
  it('reads every field', () => {
    const request = embeddingRequest({
      input: ['a', 'b'],
      encoding_format: 'base64',
      dimensions: 8,
      user: 'ann',
      provider: { only: ['a'] },
    });
    expect(request).toMatchObject({
      kind: 'embedding',
      models: ['a/vectors'],
      input: { type: 'texts', texts: ['a', 'b'] },
      encoding: 'base64',
      dimensions: 8,
      endUser: 'ann',
      stream: false,
      routing: { only: ['a'] },
    });
  });

  it('treats null as unset', () => {
    const nothing = { encoding_format: null, dimensions: null, user: null, models: null };
    expect(embeddingRequest(nothing)).toMatchObject({
      encoding: 'float',
      dimensions: undefined,
      endUser: undefined,
    });
  });

  it.each<[unknown, object]>([
    ['one', { type: 'texts', texts: ['one'] }],
    [['one', 'two'], { type: 'texts', texts: ['one', 'two'] }],
    [[1, 2, 3], { type: 'tokens', tokens: [[1, 2, 3]] }],
    [[[1], [2, 3]], { type: 'tokens', tokens: [[1], [2, 3]] }],
  ])('reads the input %j', (input, expected) => {
    expect(embeddingRequest({ input }).input).toEqual(expected);
  });

  it.each<[unknown, number, number]>([
    ['x', 1, 1],
    ['abcdefgh', 3, 2],
    // Items don't share tokens in the ceiling, but do in the estimate.
    [['x', 'y', 'z'], 3, 1],
    ['東京タワー', 5, 2],
    ['👩‍🚀🙂', 5, 1],
    // Another vocabulary may need more tokens.
    [[5, 6, 7], 6, 3],
    [[[5, 6], [7]], 6, 3],
  ])('counts %j: at most %d tokens, about %d', (input, ceiling, estimate) => {
    const request = embeddingRequest({ input });
    expect(request.ceiling).toEqual({ ...NO_USAGE, inputTokens: ceiling });
    expect(request.estimate).toEqual({ ...NO_USAGE, inputTokens: estimate });
  });

  it('accepts 2,048 items, and any number of tokens of one text', () => {
    const texts = Array.from({ length: 2_048 }, () => 'x');
    expect(embeddingRequest({ input: texts }).ceiling.inputTokens).toBe(2_048);
    const tokens = Array.from({ length: 5_000 }, () => 1);
    expect(embeddingRequest({ input: tokens }).input).toEqual({ type: 'tokens', tokens: [tokens] });
  });

  it.each<[string, Record<string, unknown>]>([
    ['input', { input: undefined }],
    ['input', { input: null }],
    ['input', { input: 5 }],
    ['input', { input: {} }],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: Array.from({ length: 2_049 }, () => 'x') }],
    ['input', { input: Array.from({ length: 2_049 }, () => [1]) }],
    ['input.1', { input: ['x', ''] }],
    ['input.1', { input: ['x', 5] }],
    ['input.0', { input: [null] }],
    ['input.1', { input: [[1], []] }],
    ['input.1', { input: [[1], 'x'] }],
    ['input.1', { input: [1, 'x'] }],
    ['input.1', { input: [1, 1.5] }],
    ['input.0', { input: [-1] }],
    ['input.1.0', { input: [[1], ['x']] }],
    ['input.0.0', { input: [[2 ** 31]] }],
    ['model', { model: undefined }],
    ['model', { model: 'vectors' }],
    ['models', { models: ['b/vectors'] }],
    ['encoding_format', { encoding_format: 'int8' }],
    ['dimensions', { dimensions: 0 }],
    ['dimensions', { dimensions: 1.5 }],
    ['dimensions', { dimensions: '8' }],
    ['user', { user: 5 }],
    ['provider.order', { provider: { order: 'a' } }],
  ])('names %s in %j', (param, fields) => {
    expect(() => embeddingRequest(fields)).toThrow(InvalidRequestError);
    expect(() => embeddingRequest(fields)).toThrow(expect.objectContaining({ param }));
  });

  it('names a field that shared capacity rejects', () => {
    expect(embeddingRequest({ service_tier: 'flex' }).accountBoundParam?.param).toBe(
      'service_tier',
    );
  });
});
