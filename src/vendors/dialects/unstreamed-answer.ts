import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { unreadable } from '../unreadable.js';
import type { UpstreamError } from '../upstream-error.js';

const MAX_ERROR_BYTES = 256 * 1024;

/** Whether an answer of status 200 is one piece of JSON, where a stream was asked for. */
export function isUnstreamed({ headers }: Pick<UpstreamResponse, 'headers'>): boolean {
  return /^application\/json\b/i.test(headers['content-type'] ?? '');
}

/**
 * What such an answer says: some servers tell an error so, which may well be the caller's.
 *
 * @param classify reads the body of an error
 * @throws CallAbortedError when nobody waits for it any more
 * @throws UpstreamError when it breaks off
 */
export async function readUnstreamed(
  response: UpstreamResponse,
  classify: (body: JsonObject) => UpstreamError,
): Promise<UpstreamError> {
  const text = (await response.readAll(MAX_ERROR_BYTES)).toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return unreadable('JSON that is none instead of a stream');
  }
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isJsonObject(first) && first.error != null
    ? classify(first)
    : unreadable('JSON instead of a stream');
}
