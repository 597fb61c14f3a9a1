import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

/** Members of a vendor's response object that callers get with values of the gateway's. */
export type ResponseEdits = Readonly<JsonObject>;

/** The answer is the gateway's to keep, and so are its id and what the caller attached to it. */
export function responseEditsOf(request: CanonicalRequest, alias: string): ResponseEdits {
  const { store, metadata, previous_response_id: previousId } = request.body.value;
  return {
    ...(request.answerId !== undefined && { id: request.answerId }),
    model: alias,
    store: store !== false,
    metadata: metadata ?? {},
    previous_response_id: previousId ?? null,
  };
}
