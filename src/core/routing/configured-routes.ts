import type { UsageBounds } from '../../canonical/billable-route.js';
import { MAX_SEARCHES } from '../../canonical/canonical-request.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import type { Usage } from '../../canonical/usage.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { CallLimits, Upstream } from '../../vendors/upstream.js';
import type { Model, ModelRoute } from '../catalogue/catalogue.types.js';
import { pricedAt } from '../catalogue/exact-pricing-of.js';
import type { LeftOutRoute, PlannedRoute } from './plan.js';
import { servesModel } from './pool/pool-member.js';
import { offeredPrices, type OfferedPrices } from './price-offer.js';
import type { RoutingState } from './routing-state.js';
import { textCeilingOf } from './text-ceiling.js';

/** Vendors round the length of a video up to a supported one. */
const MAX_VIDEO_FACTOR = 2;
/** Longest plausible speech: a factor over the estimate for the text, and a minimum. */
const MAX_SPEECH_FACTOR = 2;
const SPEECH_LEEWAY_MS = 60_000;
const FIRST_BYTE_STREAMING_MS = 60_000;
const FIRST_BYTE_WHOLE_MS = 300_000;

/** Returns all routes of the models to configured providers, in the caller's order of providers. */
export function configuredRoutes(
  request: RoutableRequest,
  models: readonly Model[],
  state: RoutingState,
): PlannedRoute[] {
  const planned: PlannedRoute[] = [];
  for (const model of models) {
    for (const route of byPreference(model.routes, request.routing.order)) {
      planRoutes(request, model, route, state, planned);
    }
  }
  return planned;
}

/** Puts providers in `order` first, the others by priority. */
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

/** Adds a route over each of the caller's own accounts, then shared capacity. */
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
    const scopeKeyId = account.credential.scopeKeyId ?? undefined;
    return {
      ...{ ...shared, trafficMode: 'byok', byokFeePercent, byok: account, configVersion },
      ...(scopeKeyId !== undefined && { scopeKeyId }),
    };
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

/** Orders a caller's BYOK accounts with one provider by pool: the tenant's first, then those of each key. */
function spread(
  request: RoutableRequest,
  own: readonly PlannedRoute[],
  state: RoutingState,
): PlannedRoute[] {
  const { pools } = state;
  const scopes = new Set(own.map(({ byok }) => byok!.credential.scopeKeyId));
  return [...scopes].flatMap((scope) => {
    const routes = own.filter(({ byok }) => byok!.credential.scopeKeyId === scope);
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

/** Plans shared capacity: one route, or one for each account that serves the model. */
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

/** Estimates the tokens that count against an account's limits; below the ceiling. */
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
  // Field by field: a spread costs V8 a microsecond per property.
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
 * Returns the most usage that a vendor can plausibly report. `context_length` may end where a
 * higher price begins, so a longer prompt is plausible if the request itself is as long.
 */
function boundsOf(request: RoutableRequest, model: Model, ceiling: Usage): UsageBounds {
  const { context_length: context, max_completion_tokens: maxOutput } = model;
  if (isTextRequest(request)) {
    const { choices, maxOutputTokens = 0, webSearch } = request;
    return {
      inputTokens: Math.max(context, ceiling.inputTokens),
      outputTokens: (maxOutput ?? Math.max(context, maxOutputTokens)) * choices,
      webSearches: webSearch ? MAX_SEARCHES : 0,
    };
  }
  const { items = 1, measuredAudioMs, longestAudioMs } = request;
  return {
    inputTokens: Math.max(context * items, ceiling.inputTokens),
    outputTokens: (maxOutput ?? context) * items,
    videoSeconds: ceiling.videoSeconds * MAX_VIDEO_FACTOR,
    spokenAudioMs: request.kind === 'speech' ? longestSpeech(ceiling) : undefined,
    measuredAudioMs,
    longestAudioMs,
  };
}

/** Vendors report audio length themselves, and pauses between words are plausible. */
function longestSpeech({ audioMs }: Usage): number {
  return audioMs * MAX_SPEECH_FACTOR + SPEECH_LEEWAY_MS;
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
