import type { LimitedSubject } from '../../canonical/limits.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import type { Usage } from '../../canonical/usage.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import type { Model, ModelRoute } from '../catalogue/catalogue.types.js';
import { pricedAt } from '../catalogue/exact-pricing-of.js';
import {
  NotFoundError,
  ProviderUnavailableError,
  RateLimitError,
} from '../../platform/errors/gateway-errors.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import type { CallLimits, Upstream } from '../../vendors/upstream.js';
import { withoutDenied } from './denied-names.js';
import { noteLeftOut } from './left-out.js';
import { byPrice, isSamePool, sortRoutes, withoutDear, type RouteFigures } from './order-routes.js';
import type { CostLimit, LeftOutRoute, PlannedRoute } from './plan.js';
import { offeredPrices, type OfferedPrices } from './price-offer.js';
import type { AccountPools } from './pool/account-pools.js';
import { isPooled, servesModel, type PooledRoute, type PoolMember } from './pool/pool-member.js';
import type { HealthKey } from './route-health.js';
import { textCeilingOf } from './text-ceiling.js';
import { withoutUnpriced } from './unpriced-routes.js';
import type { UsageBounds } from '../../canonical/billable-route.js';

/** Vendors round the length of a video up to what they offer. */
const MAX_VIDEO_FACTOR = 2;
const FIRST_BYTE_STREAMING_MS = 60_000;
const FIRST_BYTE_WHOLE_MS = 300_000;

/** What the choice of routes depends on besides the request. */
export interface RoutingState extends RouteFigures {
  isConfigured(provider: string): boolean;
  /** Of a configured provider: what goes out to it that may have a price of its own. */
  vendorOf(
    provider: string,
    account?: string,
  ): Pick<Upstream, 'passesVendorHeaders' | 'runsWebSearch' | 'passesTier' | 'region'>;
  isCooling(key: HealthKey): boolean;
  /** Whether the operator has paused the route, over whatever account. */
  isPaused(route: PlannedRoute): boolean;
  /** The accounts of a provider that has several; undefined: it has one. */
  poolOf?(provider: string): readonly PoolMember[] | undefined;
  /** What those can take, and a tenant's own accounts; there where anything is to be spread. */
  pools?: Pick<AccountPools, 'order' | 'waitMs' | 'expectedTokens'>;
  /** Id of the account that is to be first of a pool as long as it is well, e.g. as it has read the prompt before. */
  preferredAccount?(routes: readonly PooledRoute[]): string | undefined;
  limits: AppConfig['limits'];
  byokFeePercent: number;
  /** The caller's own accounts; of one provider in the order in which they are tried. */
  byok: readonly ByokAccess[];
  /** Of the configuration, whose prices these are; null before the first. */
  configVersion?: number | null;
  /** Ids of catalogue rows whose prices are a file's, and no version's. */
  overridden?: ReadonlySet<string>;
  /** The same of the fee for tenants' own accounts, which a variable may set. */
  isFeeOverridden?: boolean;
  /** Whose lists of providers are to be kept to; undefined: nobody's. */
  subjects?: readonly LimitedSubject[] | undefined;
  /** By what they may cost, which routes may be taken; undefined: all. */
  costLimit?: CostLimit | undefined;
  /** Is told which routes are left out, and why; undefined: nobody asks. */
  leftOut?: LeftOutRoute[] | undefined;
}

/**
 * The routes of a request in the order in which they are tried. A pure function of its arguments.
 *
 * @param models the models of the request's chain, in its order
 * @throws ProviderUnavailableError when no provider of any model is configured, or all are paused
 * @throws PermissionError when the lists of those whom it counts on leave no provider
 * @throws NotFoundError (`provider`) when the caller's preferences leave nothing
 * @throws InvalidRequestError for a field that shared capacity refuses when there is nothing else
 * @throws MaxCostError when each of them could cost more than the caller allows
 */
export function selectRoutes(
  request: RoutableRequest,
  models: readonly Model[],
  state: RoutingState,
): [PlannedRoute, ...PlannedRoute[]] {
  const { order, only, ignore, allowFallbacks, strategy, sort, maxPrice } = request.routing;
  const configured: PlannedRoute[] = [];
  for (const model of models) {
    for (const route of byPreference(model.routes, order)) {
      planRoutes(request, model, route, state, configured);
    }
  }
  if (configured.length === 0) {
    throw new ProviderUnavailableError(
      `No provider that serves ${models.map((model) => model.id).join(', ')} is configured here.`,
    );
  }

  const { leftOut, costLimit } = state;
  const left = state.subjects ? withoutDenied(configured, state.subjects, leftOut) : configured;

  // Here and below: most requests have no preferences and no accounts of tenants, and need no copies.
  const hasFilter = only !== undefined || ignore.length > 0;
  let routes = hasFilter
    ? left.filter(
        ({ provider }) => (only?.includes(provider) ?? true) && !ignore.includes(provider),
      )
    : left;
  if (hasFilter) noteLeftOut(leftOut, left, routes, 'preferences');
  const [best] = routes;
  if (best === undefined) {
    throw new NotFoundError(
      'provider',
      '`provider.only` and `provider.ignore` leave no provider for this model.',
    );
  }
  if (sort) routes = sortRoutes(routes, sort, request.routing, request.stream, state);
  else if (strategy === 'sort') routes = byPrice(routes, request.stream, state);
  if (state.byok.length > 0) routes = withoutUnwantedShared(routes, leftOut);
  // Behind the above: an account of the tenant's that is dear or paused is no leave to use shared capacity.
  if (maxPrice) routes = withoutDear(routes, maxPrice, leftOut);
  routes = withoutPaused(routes, state);
  routes = withoutUnpriced(request, routes, models, state);
  if (costLimit) {
    const admitted = routes.filter((route) => costLimit.admits(route));
    noteLeftOut(leftOut, routes, admitted, 'max_cost');
    if (admitted.length === 0) throw costLimit.refusal();
    routes = admitted;
  }

  const ready = routes.filter((route) => !state.isCooling(route) && waitMsOf(route, state) <= 0);
  if (leftOut) {
    const cooling = routes.filter((route) => state.isCooling(route));
    const awake = routes.filter((route) => !cooling.includes(route));
    noteLeftOut(leftOut, awake, ready, 'resting');
    noteLeftOut(leftOut, cooling, ready.length > 0 ? [] : cooling.slice(0, 1), 'cooling');
  }
  const [first, ...others] = ready;
  // All are cooling down: rather try the best one than refuse.
  if (first === undefined) return [bestOfCooling(routes, state) ?? best];
  if (allowFallbacks) return [first, ...others];
  // To the caller, the accounts of one provider are one route.
  const kept = first.pooled ? others.filter((route) => isSamePool(first, route)) : [];
  noteLeftOut(leftOut, others, kept, 'no_fallbacks');
  return [first, ...kept];
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

/** Those named in `order` first, in that order; the rest behind them by priority. */
function byPreference(
  routes: readonly ModelRoute[],
  order: readonly string[],
): readonly ModelRoute[] {
  if (order.length === 0) return routes;
  const rank = ({ provider }: ModelRoute): number => {
    const index = order.indexOf(provider);
    return index === -1 ? order.length : index;
  };
  return [...routes].sort((one, other) => rank(one) - rank(other));
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

/** Adds the ways over one route: the caller's own accounts, and behind them shared capacity. */
function planRoutes(
  request: RoutableRequest,
  model: Model,
  route: ModelRoute,
  state: RoutingState,
  planned: PlannedRoute[],
): void {
  const { byok, byokFeePercent } = state;
  const isConfigured = state.isConfigured(route.provider);
  if (byok.length === 0) {
    if (isConfigured) planShared(request, model, route, state, planned);
    else state.leftOut?.push({ route: namesOf(model, route), reason: 'not_configured' });
    return;
  }
  const accounts = byok.filter(({ credential }) => credential.provider === route.provider);
  const own = accounts.map((account): PlannedRoute => {
    const shared = planRoute(request, model, route, state);
    const configVersion = state.isFeeOverridden ? null : (shared.configVersion ?? null);
    return { ...shared, trafficMode: 'byok', byokFeePercent, byok: account, configVersion };
  });
  planned.push(...(own.some(({ byok }) => byok?.member) ? spread(request, own, state) : own));
  const isShared =
    isConfigured && accounts.every(({ credential }) => credential.allowSharedFallback);
  if (isShared) planShared(request, model, route, state, planned);
  else if (isConfigured || accounts.length === 0) {
    const reason = isConfigured ? 'own_account' : 'not_configured';
    state.leftOut?.push({ route: namesOf(model, route), reason });
  }
}

/** A tenant's own accounts with one provider, in the order of their pools; those that routing keys stored come last. */
function spread(
  request: RoutableRequest,
  own: readonly PlannedRoute[],
  state: RoutingState,
): PlannedRoute[] {
  const { pools } = state;
  return [false, true].flatMap((isOfRoutingKey) => {
    const routes = own.filter(({ byok }) => byok?.credential.isOfRoutingKey === isOfRoutingKey);
    const pooled = routes.flatMap((route) => {
      const { member } = route.byok!;
      if (!member) return [];
      return [
        Object.assign(route, { pooled: { member, tokens: demandOf(request, route, pools) } }),
      ];
    });
    return pooled.length > 0 && pools
      ? pools.order(pooled, state.preferredAccount?.(pooled))
      : routes;
  });
}

function namesOf(model: Model, { provider }: ModelRoute): LeftOutRoute['route'] {
  return { model: model.id, provider };
}

/** Shared capacity: one route, or one for each account that serves the model. */
function planShared(
  request: RoutableRequest,
  model: Model,
  route: ModelRoute,
  state: RoutingState,
  planned: PlannedRoute[],
): void {
  const members = state.poolOf?.(route.provider);
  if (!members || !state.pools) {
    const vendor = route.variants && state.vendorOf(route.provider);
    planned.push(planRoute(request, model, route, state, vendor));
    return;
  }
  const { catalogueId } = model;
  const routes = members
    .filter((member) => servesModel(member, catalogueId))
    .map((member) => {
      const own = member.prices?.get(catalogueId);
      const priced = own ? pricedAt(route, own) : route;
      const vendor = route.variants && state.vendorOf(route.provider, member.account);
      const plan = planRoute(request, model, priced, state, vendor);
      const pooled = { member, tokens: demandOf(request, plan, state.pools) };
      const { configVersion = null } = plan;
      return Object.assign(plan, {
        account: member.account,
        pooled,
        configVersion: own && member.hasFilePrices ? null : configVersion,
      });
    });
  planned.push(...state.pools.order(routes, state.preferredAccount?.(routes)));
}

/** Tokens that a request is taken to use on a route, for an account's limits: less than it can use at most. */
function demandOf(
  request: RoutableRequest,
  route: PlannedRoute,
  pools: RoutingState['pools'],
): number {
  if (!isTextRequest(request)) return request.estimate.inputTokens + request.estimate.outputTokens;
  const { ceiling, output } = route;
  const most = (output?.most ?? ceiling.outputTokens) * (output?.choices ?? 1);
  const input = estimateTokens(request.promptSize.characters);
  return input + (pools?.expectedTokens(route, most) ?? 0);
}

function planRoute(
  request: RoutableRequest,
  model: Model,
  route: ModelRoute,
  { limits, configVersion = null, overridden }: RoutingState,
  vendor?: Pick<Upstream, 'region'>,
): PlannedRoute {
  const prices: OfferedPrices = route.variants
    ? offeredPrices(request, route, vendor?.region)
    : route;
  // Field by field: V8 takes a microsecond for each property that joins a spread object.
  const { ceiling, output }: Pick<PlannedRoute, 'ceiling' | 'output'> = isTextRequest(request)
    ? textCeilingOf(request, model, prices)
    : request;
  return {
    ceiling,
    output,
    bounds: boundsOf(request, model, ceiling),
    model: model.id,
    provider: route.provider,
    catalogueId: model.catalogueId,
    upstreamModel: route.upstreamModel,
    pricing: prices.pricing,
    longPrompts: prices.longPrompts,
    offer: prices.offer,
    trafficMode: 'shared',
    limits: limitsOf(request, route, limits),
    configVersion: overridden?.has(model.catalogueId) ? null : configVersion,
  };
}

/**
 * The most that the model can use, whatever its vendor reports. A `context_length` may end where a
 * higher price begins, so a longer prompt is believed as far as the request itself can be so long.
 */
function boundsOf(request: RoutableRequest, model: Model, ceiling: Usage): UsageBounds {
  const { context_length: context, max_completion_tokens: maxOutput } = model;
  if (isTextRequest(request)) {
    const { choices, maxOutputTokens = 0 } = request;
    return {
      inputTokens: Math.max(context, ceiling.inputTokens),
      outputTokens: (maxOutput ?? Math.max(context, maxOutputTokens)) * choices,
    };
  }
  const { items = 1, measuredAudioMs } = request;
  return {
    inputTokens: Math.max(context * items, ceiling.inputTokens),
    outputTokens: (maxOutput ?? context) * items,
    videoSeconds: ceiling.videoSeconds * MAX_VIDEO_FACTOR,
    measuredAudioMs,
  };
}

function limitsOf(
  { stream }: RoutableRequest,
  { timeouts }: ModelRoute,
  limits: AppConfig['limits'],
): CallLimits {
  const firstByteMs = stream ? FIRST_BYTE_STREAMING_MS : FIRST_BYTE_WHOLE_MS;
  return {
    firstByteMs: timeouts.first_byte_ms ?? limits.firstByteTimeoutMs ?? firstByteMs,
    idleMs: timeouts.idle_ms ?? limits.idleTimeoutMs,
    requestMs: timeouts.request_ms ?? limits.requestTimeoutMs,
  };
}
