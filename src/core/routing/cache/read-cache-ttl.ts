import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';

const CACHE_HEADER = 'x-gateway-cache';

const DEFAULT_TTL_SECONDS = 300;
const MAX_TTL_SECONDS = 86_400;

/**
 * For how many seconds the caller wants the answer kept, and that one kept before will do;
 * undefined when it must be a new one.
 *
 * @throws InvalidRequestError (`x-gateway-cache`) for any other value
 */
export function readCacheTtl(headers: IncomingHttpHeaders): number | undefined {
  const value = headers[CACHE_HEADER];
  if (value === undefined || value === 'false') return undefined;
  if (value === 'true') return DEFAULT_TTL_SECONDS;
  const seconds = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (seconds >= 1 && seconds <= MAX_TTL_SECONDS) return seconds;
  throw new InvalidRequestError(
    CACHE_HEADER,
    `\`X-Gateway-Cache\` is \`true\`, \`false\`, or a number of seconds from 1 to ${MAX_TTL_SECONDS}.`,
  );
}
