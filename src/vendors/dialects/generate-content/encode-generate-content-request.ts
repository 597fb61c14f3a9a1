import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { encodeContents } from './encode-contents.js';
import { encodeGenerationConfig } from './encode-generation-config.js';
import { encodeTools } from './encode-tools.js';
import type { ModelTraits } from './model-traits.js';

/**
 * The body of a `generateContent` or `streamGenerateContent` call, which are alike.
 *
 * @param ownOutputLimit see `UpstreamCall`
 * @throws UpstreamError `caller` or `unsupported`, naming the field, for what cannot be told
 */
export function encodeGenerateContentRequest(
  request: CanonicalRequest,
  traits: ModelTraits,
  ownOutputLimit?: number,
): Buffer {
  const body = {
    ...encodeContents(request, traits),
    ...encodeTools(request.prompt(), traits),
    generationConfig: encodeGenerationConfig(request, traits, ownOutputLimit),
  };
  return Buffer.from(JSON.stringify(body));
}
