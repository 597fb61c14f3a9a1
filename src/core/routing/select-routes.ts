import type { RoutableRequest } from '../../canonical/work-request.js';
import type { Model } from '../catalogue/catalogue.types.js';
import {
  NotFoundError,
  ProviderUnavailableError,
  RateLimitError,
} from '../../platform/errors/gateway-errors.js';
import { configuredRoutes } from './configured-routes.js';
import { withoutDenied } from './denied-names.js';
import { noteLeftOut } from './left-out.js';
import { byPrice, isSamePool, sortRoutes, withoutDear } from './order-routes.js';
import type { LeftOutRoute, PlannedRoute } from './plan.js';
import { isPooled } from './pool/pool-member.js';
import type { RoutingState } from './routing-state.js';
import { withoutUnpriced } from './unpriced-routes.js';

/**
 * The routes of a request in the order in which they are tried. A pure function of its arguments.
 *
 * @param models the models of the request's chain, in its order
 * @throws ProviderUnavailableError when no provider of any model is configured, or all are paused
 * @throws PermissionError when the lists of those whom it counts on leave no provider
 * @throws NotFoundError (`provider`) when the caller's preferences leave nothing
 * @throws InvalidRequestError for a field that shared capacity refuses when there is nothing else
 * @throws MaxCostError when each of them could cost more than the caller allows
 * @throws RateLimitError when all accounts that are left have reached their vendors' limits
 */
export function selectRoutes(
  request: RoutableRequest,
  models: readonly Model[],
  state: RoutingState,
): [PlannedRoute, ...PlannedRoute[]] {
  const { routing, stream } = request;
  const configured = configuredRoutes(request, models, state);
  if (configured.length === 0) {
    throw new ProviderUnavailableError(
      `No provider that serves ${models.map((model) => model.id).join(', ')} is configured here.`,
    );
  }
  const { subjects, leftOut } = state;
  // Here and below: most requests have no preferences and no accounts of tenants, and need no copies.
  const granted = subjects ? withoutDenied(configured, subjects, leftOut) : configured;
  const wanted = withoutUnwanted(granted, routing, leftOut);
  const [best] = wanted;
  if (best === undefined) {
    throw new NotFoundError(
      'provider',
      '`provider.only` and `provider.ignore` leave no provider for this model.',
    );
  }
  let routes = wanted;
  if (routing.sort) routes = sortRoutes(routes, routing.sort, routing, stream, state);
  else if (routing.strategy === 'sort') routes = byPrice(routes, stream, state);
  if (state.byok.length > 0) routes = withoutUnwantedShared(routes, leftOut);
  // Behind the above: an account of the tenant's that is dear or paused is no leave to use shared capacity.
  if (routing.maxPrice) routes = withoutDear(routes, routing.maxPrice, leftOut);
  routes = withoutPaused(routes, state);
  routes = withoutUnpriced(request, routes, models, state);
  routes = withoutCostly(routes, state);

  const [first, ...others] = readyRoutes(routes, state);
  // All are cooling down: rather try the best one than refuse.
  if (first === undefined) return [bestOfCooling(routes, state) ?? best];
  if (routing.allowFallbacks) return [first, ...others];
  // To the caller, the accounts of one provider are one route.
  const kept = first.pooled ? others.filter((route) => isSamePool(first, route)) : [];
  noteLeftOut(leftOut, others, kept, 'no_fallbacks');
  return [first, ...kept];
}

/** Those of providers that the caller wants. */
function withoutUnwanted(
  routes: PlannedRoute[],
  { only, ignore }: RoutableRequest['routing'],
  leftOut: LeftOutRoute[] | undefined,
): PlannedRoute[] {
  if (only === undefined && ignore.length === 0) return routes;
  const left = routes.filter(
    ({ provider }) => (only?.includes(provider) ?? true) && !ignore.includes(provider),
  );
  noteLeftOut(leftOut, routes, left, 'preferences');
  return left;
}

/** @throws MaxCostError when that leaves nothing */
function withoutCostly(
  routes: PlannedRoute[],
  { costLimit, leftOut }: RoutingState,
): PlannedRoute[] {
  if (!costLimit) return routes;
  const left = routes.filter((route) => costLimit.admits(route));
  noteLeftOut(leftOut, routes, left, 'max_cost');
  if (left.length === 0) throw costLimit.refusal();
  return left;
}

/** Those that neither cool down nor rest. */
function readyRoutes(routes: readonly PlannedRoute[], state: RoutingState): PlannedRoute[] {
  const ready = routes.filter((route) => !state.isCooling(route) && waitMsOf(route, state) <= 0);
  if (state.leftOut) {
    const cooling = routes.filter((route) => state.isCooling(route));
    const awake = routes.filter((route) => !cooling.includes(route));
    noteLeftOut(state.leftOut, awake, ready, 'resting');
    noteLeftOut(state.leftOut, cooling, ready.length > 0 ? [] : cooling.slice(0, 1), 'cooling');
  }
  return ready;
}

/** Milliseconds for which a pool's account takes nothing more; 0: it does, or is none of a pool. */
function waitMsOf(route: PlannedRoute, { pools }: RoutingState): number {
  return isPooled(route) ? (pools?.waitMs(route) ?? 0) : 0;
}

/** @throws RateLimitError where all there is are accounts that take nothing more for now */
function bestOfCooling(
  routes: readonly PlannedRoute[],
  state: RoutingState,
): PlannedRoute | undefined {
  const waitsMs = routes.map((route) => waitMsOf(route, state));
  const index = waitsMs.findIndex((waitMs) => waitMs <= 0);
  if (index >= 0 || routes.length === 0) return routes[index];
  const names = [...new Set(routes.map(({ provider, model }) => `${provider} for ${model}`))];
  throw new RateLimitError(
    'model',
    `Every account has reached its limit: ${names.join(', ')}. Try again later, or add fallback models.`,
    Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000)),
  );
}

/** @throws ProviderUnavailableError when that leaves nothing */
function withoutPaused(routes: PlannedRoute[], state: RoutingState): PlannedRoute[] {
  if (!routes.some((route) => state.isPaused(route))) return routes;
  const left = routes.filter((route) => !state.isPaused(route));
  noteLeftOut(state.leftOut, routes, left, 'paused');
  if (left.length > 0) return left;
  const names = [...new Set(routes.map(({ model }) => model))].join(', ');
  throw new ProviderUnavailableError(
    `The operator of this gateway has paused every route to ${names} that this request may take. Use another model, or try again later.`,
  );
}

/**
 * Where shared capacity stands behind a tenant's account that does not allow it as its fallback, it is
 * left out. Another model is another wish: whoever names it may be served by shared capacity.
 */
function withoutUnwantedShared(
  routes: readonly PlannedRoute[],
  leftOut: LeftOutRoute[] | undefined,
): PlannedRoute[] {
  const closedModels = new Set<string>();
  const left = routes.filter(({ byok, model }) => {
    if (byok && !byok.credential.allowSharedFallback) closedModels.add(model);
    return byok !== undefined || !closedModels.has(model);
  });
  noteLeftOut(leftOut, routes, left, 'own_account');
  return left;
}
