import { Inject, Injectable, Optional } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { LiveSettings } from '../../platform/config/live-settings.js';
import { requestOptionsOf } from '../../canonical/request-options.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import type { Caller } from '../access/caller.js';
import { EndUserLimits } from '../access/end-user-limits.service.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import type { Model } from '../catalogue/catalogue.types.js';
import { ByokUpstreams, type ByokAccess } from '../credentials/byok-upstreams.service.js';
import { AnswerCache } from './cache/answer-cache.service.js';
import { refuseDenied, withoutDeniedHit } from './denied-names.js';
import { findModel } from './find-model.js';
import { HedgeShare } from './hedge/hedge-share.js';
import { mayBeHedged } from './hedge/hedge-option.js';
import { freeRoute } from './opened-answer.js';
import { Plan, type RequestContext } from './plan.js';
import { AccountPools } from './pool/account-pools.js';
import { OperatorPools } from './pool/operator-pools.js';
import { recoveryOf } from './recovery/recovery-option.js';
import { RouteHealth } from './route-health.js';
import { RoutePauses } from './route-pauses.service.js';
import type { RoutingState } from './routing-state.js';
import { selectRoutes } from './select-routes.js';
import { isCacheable } from './stickiness/conversation-key.js';
import { ConversationPlaces } from './stickiness/conversation-places.js';
import { StickyConversation } from './stickiness/sticky-conversation.js';

@Injectable()
export class RoutePlanner {
  private state: RoutingState;

  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
    private readonly byokUpstreams: ByokUpstreams,
    private readonly cache: AnswerCache,
    private readonly pauses: RoutePauses,
    private readonly endUserLimits: EndUserLimits,
    private readonly health: RouteHealth,
    private readonly pools: AccountPools,
    private readonly operatorPools: OperatorPools,
    private readonly hedges: HedgeShare,
    private readonly conversations: ConversationPlaces,
    @Optional() private readonly settings?: LiveSettings,
  ) {
    this.state = this.makeState();
  }

  /**
   * Returns the routes that a request will try, without calling a vendor. A cache hit has one free
   * route, which is not called.
   *
   * @throws NotFoundError for an unknown model, or when preferences exclude every provider
   * @throws MaxCostError when every route could cost more than the caller allows
   * @throws PermissionError when an allow or deny list excludes the model or all its providers
   * @throws InvalidRequestError for a model of another kind, or a field that shared capacity
   * rejects
   * @throws ProviderUnavailableError when no provider of the models is configured, or all are
   * paused
   */
  async plan<Request extends RoutableRequest>(
    caller: Caller,
    request: Request,
    context: RequestContext,
  ): Promise<Plan<Request>> {
    // One version, even if another takes effect while this waits.
    const current = this.currentState();
    const models = request.models.map((alias) =>
      findModel(this.catalogue, request, alias, this.nearest),
    );
    const found = this.endUserLimits.subjectsOf(caller, request.endUser);
    const limits = found instanceof Promise ? await found : found;
    if (limits) refuseDenied(request, models, limits);
    const { cacheTtlSeconds: ttl } = context;
    const kept = ttl === undefined ? undefined : this.cache.lookUp(caller.tenantId, request, ttl);
    const cache = withoutDeniedHit(kept && (await kept), limits);
    if (cache?.hit) return new Plan(request, [freeRoute(cache.hit)], context, cache, limits);
    const known = this.byokUpstreams.of(caller);
    const byok: readonly ByokAccess[] = known instanceof Promise ? await known : known;
    const { costLimit, leftOut } = context;
    const conversation = this.conversationOf(caller, request, models, context, byok);
    const isPlain = byok.length === 0 && !limits && !costLimit && !leftOut && !conversation;
    const state = isPlain
      ? current
      : { ...current, byok, subjects: limits, costLimit, leftOut, ...conversation?.preference };
    const selected = selectRoutes(request, models, state);
    const routes = conversation ? conversation.lead(selected) : selected;
    const recovery = recoveryOf(request, context.recovery);
    const read = cache || recovery ? decoded(request, recovery) : request;
    const { hedgeMs: wish } = context;
    const isHedged = wish !== undefined && !this.hedges.isOff && mayBeHedged(request);
    const hedgeMs = isHedged ? wish : undefined;
    const plan = new Plan(read, routes, context, cache, limits, recovery, hedgeMs);
    plan.conversation = conversation;
    plan.requestOptions = requestOptionsOf(request, context, conversation?.key);
    return plan;
  }

  /** Considers callable models only. */
  private readonly nearest = (alias: string): string[] =>
    this.catalogue.nearest(alias, ({ routes }) =>
      routes.some(({ provider }) => this.upstreams.has(provider)),
    );

  /** Returns undefined without a choice of routes or a cacheable prompt. */
  private conversationOf(
    caller: Caller,
    request: RoutableRequest,
    models: readonly Model[],
    { sessionId }: RequestContext,
    byok: readonly ByokAccess[],
  ): StickyConversation | undefined {
    if (!isTextRequest(request) || !isCacheable(request)) return undefined;
    const hasChoice =
      byok.length > 0 ||
      models.some(
        ({ routes }) =>
          routes.length > 1 || (routes[0] && this.operatorPools.of(routes[0].provider)),
      );
    if (!hasChoice) return undefined;
    return StickyConversation.of(caller.tenantId, request, sessionId, this.conversations);
  }

  /** Returns whether the cache has an answer to a request. */
  async isKept(caller: Caller, request: RoutableRequest, ttlSeconds: number): Promise<boolean> {
    const limits = await this.endUserLimits.subjectsOf(caller, request.endUser);
    const kept = await this.cache.lookUp(caller.tenantId, request, ttlSeconds);
    return withoutDeniedHit(kept, limits)?.hit !== undefined;
  }

  /** Returns the current inputs of route selection and pricing. */
  private currentState(): RoutingState {
    const { state } = this;
    const { catalogue, config } = this;
    const isCurrent = state.configVersion === catalogue.version && state.limits === config.limits;
    return isCurrent ? state : (this.state = this.makeState());
  }

  private makeState(): RoutingState {
    const { config, catalogue, upstreams, health, pauses, settings, pools, operatorPools } = this;
    const { limits, byokFeePercent } = config;
    health.cooldownMs = limits.cooldownMs;
    return {
      isConfigured: (provider) => upstreams.has(provider),
      vendorOf: (provider, account) => upstreams.get(provider, account),
      isCooling: (key) => health.isCooling(key),
      poolOf: (provider) => operatorPools.of(provider),
      pools,
      isPaused: (route) => pauses.of(route) !== undefined,
      wholeLatencyMs: (key) => health.wholeLatencyMs(key),
      speedOf: (key) => health.speedOf(key),
      isToBeMeasured: (key) => health.isToBeMeasured(key),
      limits,
      byokFeePercent,
      byok: [],
      configVersion: catalogue.version,
      overridden: catalogue.overridden,
      isFeeOverridden: settings?.overridden.has('GATEWAY_BYOK_FEE_PERCENT') ?? false,
    };
  }
}

/**
 * Requests a decoded answer where raw vendor bytes cannot be used: for caching, as a later caller
 * may want a stream of what the first had whole, and for recovery. Cached Responses answers need no
 * decoding, because their final event repeats the answer.
 */
function decoded<Request extends RoutableRequest>(
  request: Request,
  recovery: Plan['recovery'],
): Request {
  const isBytes = isTextRequest(request) && (recovery || request.dialect !== 'responses');
  return isBytes ? { ...request, decodesAnswer: true } : request;
}
