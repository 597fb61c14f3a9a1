import type { EmbeddingRequest } from '../../../canonical/work-request.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import { dropUnknown, EMBEDDINGS_FIELDS } from '../known-fields.js';

/** Fields of the body that are the gateway's own or another gateway's, and mean nothing to a vendor. */
export const EMBEDDINGS_GATEWAY_FIELDS = [
  'models',
  'provider',
  'route',
  'trace',
  'transforms',
  'plugins',
  'usage',
];

/**
 * The body for a vendor that speaks the caller's own dialect: the received bytes with the model's
 * name exchanged and the gateway's fields taken out, everything else untouched.
 */
export function encodeEmbeddingsRequest(
  request: EmbeddingRequest,
  upstreamModel: string,
  knownFieldsOnly = false,
): Buffer {
  const { bytes, members, value } = request.body;
  const edits = new Map<string, string | undefined>([['model', JSON.stringify(upstreamModel)]]);
  if (knownFieldsOnly) dropUnknown(value, EMBEDDINGS_FIELDS, edits);
  for (const field of EMBEDDINGS_GATEWAY_FIELDS) if (field in value) edits.set(field, undefined);
  // Some SDKs spell "not set" as null, which stricter servers refuse.
  for (const field of ['encoding_format', 'dimensions', 'user']) {
    if (value[field] === null) edits.set(field, undefined);
  }
  return spliceMembers(bytes, members, edits);
}
