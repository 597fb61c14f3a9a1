import { CallAbortedError } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { ProbeCall } from '../upstream.js';
import {
  fetchServiceAccountAccess,
  GoogleAccessTokens,
  type GoogleAccess,
} from './google-access-tokens.js';

/** The source of access tokens for calls. */
export type AccessTokens = Pick<GoogleAccessTokens, 'get' | 'forget'>;

/** Returns the tokens of a configured key: a service account's JSON, or an access token. */
export function tokensOf(apiKey: string): AccessTokens {
  return apiKey.startsWith('{')
    ? new GoogleAccessTokens(
        () => fetchServiceAccountAccess(apiKey),
        Date.now,
        "the service account's key",
      )
    : fixedToken(apiKey);
}

function fixedToken(token: string): AccessTokens {
  return { get: () => Promise.resolve({ token }), forget: () => undefined };
}

/** Waits for a token, which may take long, until the time limit or the caller's disconnect. */
export async function accessWithin(
  tokens: AccessTokens,
  { limits, signal }: ProbeCall,
): Promise<GoogleAccess> {
  if (signal.aborted) throw new CallAbortedError();
  const limitMs = Math.min(limits.firstByteMs, limits.requestMs);
  let stopWaiting = (): void => undefined;
  const given = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(new CallAbortedError());
    const timer = setTimeout(() => {
      reject(
        new UpstreamError({
          failure: 'timeout',
          message: `no access token within ${limitMs} ms`,
          accepted: 'no',
        }),
      );
    }, limitMs);
    signal.addEventListener('abort', onAbort);
    stopWaiting = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  try {
    return await Promise.race([tokens.get(), given]);
  } finally {
    stopWaiting();
  }
}
