import { describe, expect, it } from '@jest/globals';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { embeddingRequest } from '../../../../test/support/embedding-requests.js';
import { withTexts } from './token-texts.js';

describe(withTexts.name, () => {
  it('leaves texts unchanged', async () => {
    const request = embeddingRequest({ input: ['a', 'b'] });
    expect(await withTexts(request)).toBe(request);
  });

  it('decodes tokens, including parts of a character', async () => {
    const texts = ['Hello, world!', 'Größe 東京タワー 👩‍🚀🙂', ' \n\n  x'];
    const input = texts.map((text) => encode(text));
    expect((await withTexts(embeddingRequest({ input }))).input).toEqual({ type: 'texts', texts });
    const one = await withTexts(embeddingRequest({ input: encode('Hello') }));
    expect(one.input).toEqual({ type: 'texts', texts: ['Hello'] });
  });

  it('keeps texts separate', async () => {
    const cut = encode('🙂').slice(0, 1);
    const { input } = await withTexts(embeddingRequest({ input: [cut, encode('Hello')] }));
    expect(input).toMatchObject({ texts: [expect.stringMatching(/^\ufffd+$/), 'Hello'] });
  });

  it.each([
    ['input', [100_000_000]],
    ['input.1', [[1], [100_300]]],
    ['input', Array.from({ length: 300_001 }, () => 1)],
  ])('rejects undecodable tokens in %s', async (param, input) => {
    await expect(withTexts(embeddingRequest({ input }))).rejects.toMatchObject({
      failure: 'unsupported',
      param,
    });
  });
});
