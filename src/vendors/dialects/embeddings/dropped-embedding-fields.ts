import type { EmbeddingRequest } from '../../../canonical/embedding-request.js';

/** What every vendor gets in some form, and what is the gateway's own. */
const KEPT = new Set([
  'model',
  'input',
  'encoding_format',
  'models',
  'provider',
  'route',
  'trace',
  'transforms',
  'plugins',
  'usage',
]);
/** Callers make names up; one that is unlike a field's is not repeated in a header. */
const FIELD_NAME = /^[a-z][a-z0-9_]{0,49}$/i;
const MAX_DROPPED = 32;

/**
 * Fields of an embeddings body that a vendor of another dialect does not get.
 *
 * @param taken those that it gets, beside the input
 */
export function droppedEmbeddingFields(
  { body: { value } }: EmbeddingRequest,
  taken: readonly string[],
): readonly string[] {
  const dropped = Object.keys(value)
    .filter((field) => value[field] != null && !KEPT.has(field) && !taken.includes(field))
    .map((field) => (FIELD_NAME.test(field) ? field : 'unknown'));
  return [...new Set(dropped)].slice(0, MAX_DROPPED);
}
