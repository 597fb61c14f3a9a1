import type { IncomingHttpHeaders } from 'node:http';
import { AuthenticationError } from '../../platform/errors/gateway-errors.js';

/**
 * The key that a request carries: `Authorization: Bearer <key>`, and `x-api-key: <key>` where that
 * is accepted. A bearer key wins over `x-api-key`, since some SDKs send a placeholder in the latter.
 * @throws AuthenticationError when there is none.
 */
export function readPresentedKey(headers: IncomingHttpHeaders, acceptsXApiKey: boolean): string {
  const bearer = bearerKey(headers.authorization);
  if (bearer) return bearer;
  const header = headers['x-api-key'];
  const apiKey = typeof header === 'string' ? header.trim() : '';
  if (acceptsXApiKey && apiKey) return apiKey;
  throw new AuthenticationError(explain(headers.authorization, apiKey, acceptsXApiKey));
}

/** Cut by hand: this runs on every request, and no input makes it slower than its length. */
function bearerKey(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined;
  const separator = authorization.charAt(6);
  if (separator !== ' ' && separator !== '\t') return undefined;
  if (authorization.slice(0, 6).toLowerCase() !== 'bearer') return undefined;
  return authorization.slice(7).trim();
}

function explain(
  authorization: string | undefined,
  apiKey: string,
  acceptsXApiKey: boolean,
): string {
  const wanted = acceptsXApiKey
    ? '"Authorization: Bearer <API_KEY>" or "x-api-key: <API_KEY>"'
    : '"Authorization: Bearer <API_KEY>"';
  if (authorization) return `The Authorization header is malformed. Send ${wanted}.`;
  if (apiKey) return `This path does not read the x-api-key header. Send ${wanted}.`;
  return `The API key is missing. Send ${wanted}.`;
}
