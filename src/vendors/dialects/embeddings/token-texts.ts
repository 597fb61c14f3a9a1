import type { EmbeddingInput, EmbeddingRequest } from '../../../canonical/work-request.js';
import { unsupported } from '../../upstream-error.js';

/** No vendor embeds more at once; reading many more would keep everybody waiting. */
const MAX_TOKENS = 300_000;

/**
 * The request for a vendor that takes texts only. Tokens are read by the vocabulary that clients of this
 * dialect make them with for embeddings (cl100k), which is loaded when the first of them come.
 *
 * @throws UpstreamError `unsupported` for more than 300,000 tokens, and for what is no token of it
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
      `This model takes texts; ${MAX_TOKENS} tokens at most are read as such.`,
    );
  }
  const { default: vocabulary } = await import('gpt-tokenizer/bpeRanks/cl100k_base');
  const texts = items.map((item, index) => {
    // A token may be a part of a character.
    const pieces = item.map((token) => {
      const piece = vocabulary[token];
      if (piece === undefined) {
        const param = items.length === 1 ? 'input' : `input.${index}`;
        throw unsupported(param, `This model takes texts, and ${token} is no token of cl100k.`);
      }
      return typeof piece === 'string' ? Buffer.from(piece) : Uint8Array.from(piece);
    });
    return Buffer.concat(pieces).toString('utf8');
  });
  return { type: 'texts', texts };
}
