import type { IncomingHttpHeaders } from 'node:http';
import { CallAbortedError, type UpstreamResponse } from '../transport/upstream-response.js';
import type { UpstreamError } from '../upstream-error.js';

const MAX_ERROR_BYTES = 256 * 1024;

/** How a dialect reads a failed answer; `body` is undefined where it is no JSON. */
export type ClassifyError = (
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
) => UpstreamError;

/**
 * What a vendor's answer with an error status says.
 *
 * @throws CallAbortedError when nobody waits for it any more
 */
export async function readFailedAnswer(
  response: UpstreamResponse,
  classify: ClassifyError,
): Promise<UpstreamError> {
  let body: unknown;
  try {
    body = JSON.parse((await response.readAll(MAX_ERROR_BYTES)).toString('utf8'));
  } catch (error) {
    if (error instanceof CallAbortedError) throw error;
    // A proxy's HTML page, say, or one that breaks off: the status has to do.
  }
  return classify(response.status, response.headers, body);
}
