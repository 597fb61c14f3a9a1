import type { EmbeddingInput, EmbeddingRequest } from '../../../canonical/work-request.js';
import { UpstreamError, unsupported } from '../../upstream-error.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { nameDropped } from '../known-fields.js';

/** What every vendor gets in some form, and what is the gateway's own. */
const KEPT = new Set(['model', 'input', 'encoding_format', ...GATEWAY_FIELDS]);

/** Failures that are about what was to be embedded, unless the vendor names another field. */
const ABOUT_INPUT = new Set(['caller', 'context_length']);

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
  throw unsupported('input', 'This model takes texts; it cannot embed arrays of tokens.');
}

/** A failure that names `input` where the vendor refuses the request and names nothing. */
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
 * Fields of an embeddings body that a vendor of another dialect does not get.
 *
 * @param taken those that it gets, beside the input
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
