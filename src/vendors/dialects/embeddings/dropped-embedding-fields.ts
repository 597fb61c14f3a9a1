import type { EmbeddingRequest } from '../../../canonical/work-request.js';
import { nameDropped } from '../known-fields.js';

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
