import type { IncomingHttpHeaders } from 'node:http';
import { MAX_HEDGE_MS } from '../../../canonical/routing-preferences.js';
import { isTextRequest, type RoutableRequest } from '../../../canonical/work-request.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';

const HEDGE_HEADER = 'x-gateway-hedge-ms';

/**
 * Parses `x-gateway-hedge-ms`: the milliseconds of silence after which a second route is called.
 *
 * @throws InvalidRequestError for anything but an integer from 1 to 60,000
 */
export function readHedge({ [HEDGE_HEADER]: value }: IncomingHttpHeaders): number | undefined {
  if (value === undefined) return undefined;
  const ms = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (ms >= 1 && ms <= MAX_HEDGE_MS) return ms;
  throw new InvalidRequestError(
    HEDGE_HEADER,
    `\`X-Gateway-Hedge-Ms\` must be an integer number of milliseconds from 1 to ${MAX_HEDGE_MS}.`,
  );
}

/**
 * Returns whether two vendors may work on a request at once. Excludes requests with effects or
 * charges besides the answer (vendor tools and searches, references to one account, images and
 * video), and background requests.
 */
export function mayBeHedged(request: RoutableRequest): boolean {
  if (request.accountBoundParam !== undefined) return false;
  if (!isTextRequest(request)) return request.kind !== 'image' && request.kind !== 'video';
  return request.webSearch === undefined && request.body.value.background !== true;
}
