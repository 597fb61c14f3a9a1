import type { EmbeddingInput, EmbeddingRequest } from '../../../canonical/work-request.js';
import { UpstreamError, unsupported } from '../../upstream-error.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { nameDropped } from '../known-fields.js';

/** Fields that every vendor gets in some form, and the gateway's own. */
const KEPT = new Set(['model', 'input', 'encoding_format', ...GATEWAY_FIELDS]);

/** Failures about the input, unless the vendor names another field. */
const ABOUT_INPUT = new Set(['caller', 'context_length']);

/** Returns the number of vectors for an input. */
export function countItems(input: EmbeddingInput): number {
  return input.type === 'texts' ? input.texts.length : input.tokens.length;
}

/**
 * Returns the texts to embed, for a vendor that accepts nothing else.
 *
 * @throws UpstreamError `unsupported` for tokens, which belong to another vendor's vocabulary
 */
export function textsOf(input: EmbeddingInput): readonly string[] {
  if (input.type === 'texts') return input.texts;
  throw unsupported('input', 'This model accepts only texts; send `input` without token arrays.');
}

/** Sets `input` as the field of a rejected request when the vendor names none. */
export function blameInput(error: unknown): unknown {
  if (!(error instanceof UpstreamError) || error.param !== undefined) return error;
  if (!ABOUT_INPUT.has(error.failure)) return error;
  const { failure, message, status, retryAfterMs } = error;
  return new UpstreamError(
    {
      failure,
      message,
      param: 'input',
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    { cause: error.cause },
  );
}

/**
 * Lists embeddings fields that a vendor of another dialect does not get.
 *
 * @param taken the supported fields besides the input
 */
export function droppedEmbeddingFields(
  { body: { value } }: EmbeddingRequest,
  taken: readonly string[],
): readonly string[] {
  return nameDropped(
    Object.keys(value).filter(
      (field) => value[field] != null && !KEPT.has(field) && !taken.includes(field),
    ),
  );
}
