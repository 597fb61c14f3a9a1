import { UpstreamError } from '../upstream-error.js';

/** Shorter ones are stand-ins for servers that need no key, and may be any word. */
const MIN_KEY_LENGTH = 8;

/**
 * What was thrown, without the key that the call was made with: callers and the log read what
 * vendors say of a failure, which may repeat it.
 */
export function hideOwnKey(error: unknown, apiKey: string | undefined): unknown {
  const isSecret = apiKey !== undefined && apiKey.length >= MIN_KEY_LENGTH;
  return isSecret && error instanceof UpstreamError ? error.without(apiKey) : error;
}
