import type { AccountBoundParam, CanonicalRequest } from '../../canonical/canonical-request.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { Upstream } from '../../vendors/upstream.js';
import type { Model } from '../catalogue/catalogue.types.js';
import { noteLeftOut } from './left-out.js';
import type { LeftOutRoute, PlannedRoute } from './plan.js';

/** Inputs of this step. */
interface UnpricedState {
  vendorOf(
    provider: string,
    account?: string,
  ): Pick<Upstream, 'passesVendorHeaders' | 'runsWebSearch' | 'passesTier'>;
  leftOut?: LeftOutRoute[] | undefined;
}

/**
 * Excludes shared capacity that has no price for an option of the request.
 *
 * @throws InvalidRequestError when nothing is left
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
    const unpriced =
      (accountBoundParam && !hasPrice(accountBoundParam, text, route, state)
        ? accountBoundParam
        : undefined) ??
      (text && unpricedIn(text, route, models, state));
    refused ??= unpriced;
    return unpriced === undefined;
  });
  noteLeftOut(state.leftOut, routes, left, 'unpriced');
  if (left.length > 0 || !refused) return left;
  throw new InvalidRequestError(
    refused.param,
    refused.priced && text ? sayPriced(refused, text, routes, state) : refused.message,
  );
}

/**
 * Returns whether a route has a price for the requested tier or region, and its vendor receives it.
 */
function hasPrice(
  { priced }: AccountBoundParam,
  text: CanonicalRequest | undefined,
  route: PlannedRoute,
  state: UnpricedState,
): boolean {
  if (!priced || !text) return false;
  const { tiers, regions } = pricedBy(text, route, state);
  const isTierPriced = priced.tier === undefined || tiers.includes(priced.tier);
  const isRegionPriced = priced.region === undefined || regions.includes(priced.region);
  return isTierPriced && isRegionPriced;
}

/** Returns the tiers and regions that a request may use on a route. */
function pricedBy(
  { dialect }: CanonicalRequest,
  { offer, provider, account, upstreamModel }: PlannedRoute,
  state: UnpricedState,
): { tiers: string[]; regions: string[] } {
  const isTold = offer && state.vendorOf(provider, account).passesTier?.(dialect, upstreamModel);
  if (!isTold) return { tiers: [], regions: [] };
  const { ordinary, regions } = offer;
  return { tiers: [...(ordinary.tiers?.keys() ?? [])], regions: [...(regions?.keys() ?? [])] };
}

/** Explains the rejection and names the valid values. */
function sayPriced(
  { param, message, priced }: AccountBoundParam,
  text: CanonicalRequest,
  routes: readonly PlannedRoute[],
  state: UnpricedState,
): string {
  const kind = priced?.tier === undefined ? 'regions' : 'tiers';
  const names = [...new Set(routes.flatMap((route) => pricedBy(text, route, state)[kind]))];
  if (names.length === 0) return message;
  return `\`${param}\` has no price for this value. Use ${names.join(' or ')}, or leave it out.`;
}

/**
 * Returns the unpriced option of a request on a route; a vendor that never receives it charges
 * nothing.
 */
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
