import type { AccountBoundParam, CanonicalRequest } from '../../canonical/canonical-request.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { Upstream } from '../../vendors/upstream.js';
import type { Model } from '../catalogue/catalogue.types.js';
import { noteLeftOut } from './left-out.js';
import type { LeftOutRoute, PlannedRoute } from './plan.js';

/** What of the choice of routes this depends on. */
interface UnpricedState {
  vendorOf(provider: string): Pick<Upstream, 'passesVendorHeaders' | 'runsWebSearch'>;
  leftOut?: LeftOutRoute[] | undefined;
}

/**
 * Leaves out shared capacity where it has no price for something that the request asks for.
 *
 * @throws InvalidRequestError when that leaves nothing
 */
export function withoutUnpriced(
  request: RoutableRequest,
  routes: PlannedRoute[],
  models: readonly Model[],
  state: UnpricedState,
): PlannedRoute[] {
  const { accountBoundParam } = request;
  const text = isTextRequest(request) ? request : undefined;
  if (!accountBoundParam && !text?.vendorHeaders && !text?.webSearch) return routes;
  let refused: AccountBoundParam | undefined;
  const left = routes.filter((route) => {
    if (route.trafficMode === 'byok') return true;
    const unpriced = accountBoundParam ?? (text && unpricedIn(text, route, models, state));
    refused ??= unpriced;
    return unpriced === undefined;
  });
  noteLeftOut(state.leftOut, routes, left, 'unpriced');
  if (left.length === 0 && refused) throw new InvalidRequestError(refused.param, refused.message);
  return left;
}

/** What of a request has no price on a route; a vendor that never gets it costs nothing for it. */
function unpricedIn(
  { dialect, vendorHeaders, webSearch }: CanonicalRequest,
  { provider, model: id, upstreamModel, pricing }: PlannedRoute,
  models: readonly Model[],
  state: UnpricedState,
): AccountBoundParam | undefined {
  const vendor = state.vendorOf(provider);
  if (vendorHeaders && vendor.passesVendorHeaders) {
    const { bound, longContext } = vendorHeaders;
    if (bound) return bound;
    const { context_length: pricedTokens = 0 } = models.find((model) => model.id === id) ?? {};
    if (longContext && pricedTokens < longContext.tokens) return longContext;
  }
  const isPriced = pricing.webSearch > 0n || !vendor.runsWebSearch?.(dialect, upstreamModel);
  return isPriced ? undefined : webSearch?.bound;
}
