import type { IncomingHttpHeaders } from 'node:http';
import { MAX_HEDGE_MS } from '../../../canonical/routing-preferences.js';
import { isTextRequest, type RoutableRequest } from '../../../canonical/work-request.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';

const HEDGE_HEADER = 'x-gateway-hedge-ms';

/**
 * After how many milliseconds of silence a caller wants a second route asked, by header.
 *
 * @throws InvalidRequestError for anything but a whole number from 1 to 60,000
 */
export function readHedge({ [HEDGE_HEADER]: value }: IncomingHttpHeaders): number | undefined {
  if (value === undefined) return undefined;
  const ms = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (ms >= 1 && ms <= MAX_HEDGE_MS) return ms;
  throw new InvalidRequestError(
    HEDGE_HEADER,
    `\`X-Gateway-Hedge-Ms\` is a whole number of milliseconds from 1 to ${MAX_HEDGE_MS}.`,
  );
}

/**
 * Whether a request may be asked of two vendors at once. Not where asking has effects beside the answer or
 * costs by the piece: what vendors search and run, what names things in one account, and pictures; nor where
 * nobody waits.
 */
export function mayBeHedged(request: RoutableRequest): boolean {
  if (request.accountBoundParam !== undefined) return false;
  if (!isTextRequest(request)) return request.kind !== 'image' && request.kind !== 'video';
  return request.webSearch === undefined && request.body.value.background !== true;
}
