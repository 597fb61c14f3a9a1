import type { EmbeddingInput } from '../../../canonical/work-request.js';
import { UpstreamError } from '../../upstream-error.js';

/** How many vectors an input asks for. */
export function countItems(input: EmbeddingInput): number {
  return input.type === 'texts' ? input.texts.length : input.tokens.length;
}

/**
 * The texts to embed, for a vendor that takes nothing else.
 *
 * @throws UpstreamError `unsupported` for tokens, which are of another vendor's vocabulary
 */
export function textsOf(input: EmbeddingInput): readonly string[] {
  if (input.type === 'texts') return input.texts;
  throw new UpstreamError({
    failure: 'unsupported',
    message: 'This model takes texts; it cannot embed arrays of tokens.',
    param: 'input',
  });
}
