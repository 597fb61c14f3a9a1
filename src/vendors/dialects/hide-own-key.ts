import { MediaFailedError } from '../media-work.js';
import { UpstreamError } from '../upstream-error.js';

/** Shorter ones are stand-ins for servers that need no key, and may be any word. */
const MIN_KEY_LENGTH = 8;

/**
 * What was thrown, without the key that the call was made with: callers and the log read what
 * vendors say of a failure, which may repeat it.
 */
export function hideOwnKey(error: unknown, apiKey: string | undefined): unknown {
  if (apiKey === undefined || apiKey.length < MIN_KEY_LENGTH) return error;
  if (error instanceof UpstreamError) return error.without(apiKey);
  if (!(error instanceof MediaFailedError)) return error;
  return new MediaFailedError(error.code, error.message.replaceAll(apiKey, '[redacted]'));
}
