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
 * Returns the routes of a request in the order of attempts. A pure function of its arguments.
 *
 * @param models the models of the request's chain, in order
 * @throws ProviderUnavailableError when no provider of any model is configured, or all are paused
 * @throws PermissionError when provider lists exclude every provider
 * @throws NotFoundError (`provider`) when the caller's preferences exclude everything
 * @throws InvalidRequestError for a field that shared capacity rejects, when nothing else is left
 * @throws MaxCostError when each route could cost more than the caller allows
 * @throws RateLimitError when all available accounts have reached their vendors' limits
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
      `No provider that serves ${models.map((model) => model.id).join(', ')} is configured.`,
    );
  }
  const { subjects, leftOut } = state;
  // Here and below: most requests have no preferences and no BYOK accounts, and need no copies.
  const granted = subjects ? withoutDenied(configured, subjects, leftOut) : configured;
  const wanted = withoutUnwanted(granted, routing, leftOut);
  const [best] = wanted;
  if (best === undefined) {
    throw new NotFoundError(
      'provider',
      '`provider.only` and `provider.ignore` exclude every provider of this model.',
    );
  }
  let routes = wanted;
  if (routing.sort) routes = sortRoutes(routes, routing.sort, routing, stream, state);
  else if (routing.strategy === 'sort') routes = byPrice(routes, stream, state);
  if (state.byok.length > 0) routes = withoutUnwantedShared(routes, leftOut);
  // After the steps above: an over-priced or paused BYOK account does not fall back to shared
  // capacity.
  if (routing.maxPrice) routes = withoutDear(routes, routing.maxPrice, leftOut);
  routes = withoutPaused(routes, state);
  routes = withoutUnpriced(request, routes, models, state);
  routes = withoutCostly(routes, state);

  const [first, ...others] = readyRoutes(routes, state);
  // When all cool down, try the best one rather than fail.
  if (first === undefined) return [bestOfCooling(routes, state) ?? best];
  if (routing.allowFallbacks) return [first, ...others];
  // The accounts of one provider are a single route to the caller.
  const kept = first.pooled ? others.filter((route) => isSamePool(first, route)) : [];
  noteLeftOut(leftOut, others, kept, 'no_fallbacks');
  return [first, ...kept];
}

/** Keeps the providers that the caller wants. */
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

/**
 * @throws MaxCostError when nothing is left
 */
function withoutCostly(
  routes: PlannedRoute[],
  { costLimit, leftOut }: RoutingState,
): PlannedRoute[] {
  if (!costLimit) return routes;
  const left = routes.filter((route) => {
    const fit = costLimit.fit(route);
    if (fit) Object.assign(route, fit);
    return fit !== undefined;
  });
  noteLeftOut(leftOut, routes, left, 'max_cost');
  if (left.length === 0) throw costLimit.refusal();
  return left;
}

/** Keeps routes that are not in cooldown. */
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

/**
 * Returns the ms until a pooled account takes requests again; 0 when it does now or is not pooled.
 */
function waitMsOf(route: PlannedRoute, { pools }: RoutingState): number {
  return isPooled(route) ? (pools?.waitMs(route) ?? 0) : 0;
}

/**
 * @throws RateLimitError when only exhausted accounts are left
 */
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

/**
 * @throws ProviderUnavailableError when nothing is left
 */
function withoutPaused(routes: PlannedRoute[], state: RoutingState): PlannedRoute[] {
  if (!routes.some((route) => state.isPaused(route))) return routes;
  const left = routes.filter((route) => !state.isPaused(route));
  noteLeftOut(state.leftOut, routes, left, 'paused');
  if (left.length > 0) return left;
  const names = [...new Set(routes.map(({ model }) => model))].join(', ');
  throw new ProviderUnavailableError(
    `The operator of this gateway has paused every route to ${names} that this request may use. Use another model, or try again later.`,
  );
}

/**
 * Excludes shared capacity for a model where a BYOK account does not allow it as a fallback. Other
 * models in the chain may use shared capacity, because the caller named them.
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
