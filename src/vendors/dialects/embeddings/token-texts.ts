import type { EmbeddingInput, EmbeddingRequest } from '../../../canonical/work-request.js';
import { unsupported } from '../../upstream-error.js';

/** No vendor embeds more at once, and decoding many more would block everyone. */
const MAX_TOKENS = 300_000;

/**
 * Decodes tokens for a vendor that accepts only texts. Clients of this dialect encode embeddings input
 * with cl100k, which is loaded on first use.
 *
 * @throws UpstreamError `unsupported` for more than 300,000 tokens, or a token outside the vocabulary
 */
export async function withTexts(request: EmbeddingRequest): Promise<EmbeddingRequest> {
  const { input } = request;
  return input.type === 'texts'
    ? request
    : { ...request, input: await textsOfTokens(input.tokens) };
}

async function textsOfTokens(items: readonly (readonly number[])[]): Promise<EmbeddingInput> {
  const count = items.reduce((sum, item) => sum + item.length, 0);
  if (count > MAX_TOKENS) {
    throw unsupported(
      'input',
      `This model accepts only texts, and at most ${MAX_TOKENS} tokens can be decoded; send texts.`,
    );
  }
  const { default: vocabulary } = await import('gpt-tokenizer/bpeRanks/cl100k_base');
  const texts = items.map((item, index) => {
    // A token may be part of a character.
    const pieces = item.map((token) => {
      const piece = vocabulary[token];
      if (piece === undefined) {
        const param = items.length === 1 ? 'input' : `input.${index}`;
        throw unsupported(
          param,
          `This model accepts only texts, and ${token} is not a cl100k token; send texts.`,
        );
      }
      return typeof piece === 'string' ? Buffer.from(piece) : Uint8Array.from(piece);
    });
    return Buffer.concat(pieces).toString('utf8');
  });
  return { type: 'texts', texts };
}
