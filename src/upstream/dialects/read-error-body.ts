import { CallAbortedError, type UpstreamResponse } from '../transport/upstream-response.js';

const MAX_ERROR_BYTES = 256 * 1024;

/** The JSON of a failed answer; undefined where it is none. */
export async function readErrorBody(response: UpstreamResponse): Promise<unknown> {
  try {
    return JSON.parse((await response.readAll(MAX_ERROR_BYTES)).toString('utf8'));
  } catch (error) {
    if (error instanceof CallAbortedError) throw error;
    // A proxy's HTML page, say, or one that breaks off: the status has to do.
    return undefined;
  }
}
