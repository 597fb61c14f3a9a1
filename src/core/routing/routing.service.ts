import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../access/caller.js';
import { AnswerCache } from './cache/answer-cache.service.js';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { CanonicalEvent, RouteEvent, WorkEvent } from '../../canonical/canonical-event.js';
import { type RoutableRequest, type WorkRequest } from '../../canonical/work-request.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits, Upstream, UpstreamWork, WorkCall } from '../../vendors/upstream.js';
import { callerErrorOf } from './caller-error.js';
import { PURPOSES } from './find-model.js';
import { HedgeShare } from './hedge/hedge-share.js';
import { OpenedAnswer, replay } from './opened-answer.js';
import { RecoveringAnswer } from './recovery/recovering-answer.js';
import { Plan, type PlannedRoute, type RequestContext, type RouteCover } from './plan.js';
import { figuresOf, type AccountFigures } from './pool/account-figures.js';
import { OperatorPools } from './pool/operator-pools.js';
import type { RouteSpeed } from './health/speed-memory.js';
import type { HealthKey, RouteCondition } from './route-health.js';
import { RoutePlanner } from './route-planner.js';
import { RouteFallback, type MakeRouteCall } from './route-fallback.js';
import { RouteRecords } from './route-records.js';
import { RouteUpstreams } from './route-upstreams.js';
import { SingleAttempts } from './single-attempts.js';
import { droppedHeaders, toCall, toTextCall } from './to-upstream-call.js';

/** Limit of a token count, after which an estimate is used. */
const PATIENCE_FOR_COUNT_MS = 10_000;

/** Routes requests: plans, calls, falls back and caches. */
@Injectable()
export class RoutingService {
  private readonly logger = new Logger(RoutingService.name);

  constructor(
    private readonly planner: RoutePlanner,
    private readonly singles: SingleAttempts,
    private readonly records: RouteRecords,
    private readonly hedges: HedgeShare,
    private readonly upstreams: RouteUpstreams,
    private readonly operatorPools: OperatorPools,
    private readonly cache: AnswerCache,
  ) {}

  /** Returns the state of a provider's accounts in this process; undefined when it has one. */
  accountsOf(provider: string): AccountFigures[] | undefined {
    const members = this.operatorPools.of(provider);
    if (!members) return undefined;
    const { health, pools } = this.records;
    const conditions = health.sharedRoutes();
    return members.map((member) => figuresOf(provider, member, pools, conditions));
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
   * @throws RateLimitError when all available accounts have reached their vendors' limits
   */
  plan<Request extends RoutableRequest>(
    caller: Caller,
    request: Request,
    context: RequestContext,
  ): Promise<Plan<Request>> {
    return this.planner.plan(caller, request, context);
  }

  /**
   * Tries the plan's routes until one yields its first content, and passes its events on. Lazy: the
   * first pull makes the first call. The first event names the answering route. Another route may
   * continue an interrupted answer, if the plan allows it.
   *
   * @throws GatewayError when no route answers, or an answer is interrupted
   * @throws CallerGoneError when the caller disconnected
   */
  open(plan: Plan, cover: RouteCover): OpenedAnswer {
    if (plan.cache?.hit) return replay(plan, plan.cache.hit);
    this.follow(plan);
    const { body, dialect } = plan.request;
    // Responses answers are stored, so their parts are kept anyway.
    const isKept = dialect === 'responses' || plan.recovery !== undefined;
    const asked = isKept ? undefined : () => body.forget?.();
    const answered = isKept ? undefined : () => body.forget?.('always');
    const call: MakeRouteCall<CanonicalEvent> = (route, limits, signal, continued) => {
      const upstream = this.upstreams.of(route);
      const textCall = toTextCall(plan, route, limits, signal, continued);
      return {
        events: upstream.generate(textCall),
        droppedParams: () => [
          ...upstream.droppedParams(plan.request, textCall),
          ...droppedHeaders(plan.request, route, upstream),
        ],
        ...(asked && { asked, answered }),
      };
    };
    const fallback = new RouteFallback(plan, cover, call, this.records, this.hedges);
    if (!plan.recovery) return new OpenedAnswer<CanonicalEvent>(() => fallback.begin());
    const { metrics } = this.records;
    const upstreamOf = (route: PlannedRoute) => this.upstreams.of(route);
    const sources = { fallback, metrics, upstreamOf };
    return new OpenedAnswer<CanonicalEvent>(
      async () => new RecoveringAnswer(plan, await fallback.firstAnswer(), sources),
    );
  }

  /**
   * Does the same for work other than text generation. Skips routes whose vendor does not support
   * the work.
   *
   * @param start begins the work at a vendor; undefined where unsupported
   */
  openWork<Request extends WorkRequest, Output>(
    plan: Plan<Request>,
    cover: RouteCover,
    start: (upstream: Upstream, call: WorkCall<Request>) => UpstreamWork<Output> | undefined,
  ): OpenedAnswer<WorkEvent<Output>> {
    if (plan.cache?.hit) return replay(plan, plan.cache.hit);
    this.follow(plan);
    const call = (route: PlannedRoute, limits: CallLimits, signal: CancelSignal) => {
      const upstream = this.upstreams.of(route);
      const work = start(upstream, toCall(plan, route, limits, signal));
      if (!work) {
        throw new UpstreamError({
          failure: 'unsupported',
          message: `The provider ${route.provider} cannot ${PURPOSES[plan.request.kind]}.`,
          param: 'model',
        });
      }
      return { events: work.events, droppedParams: () => work.droppedParams };
    };
    return new OpenedAnswer<WorkEvent<Output>>(() =>
      new RouteFallback(plan, cover, call, this.records, this.hedges).begin(),
    );
  }

  /**
   * Caches an answer if its caller allows it. Must wrap every step that inspects the answer, so
   * that withheld answers are not cached.
   */
  keep<Event extends CanonicalEvent | WorkEvent<unknown>>(
    { cache, routes, callerGone }: Plan<RoutableRequest>,
    events: AsyncIterable<Event>,
  ): AsyncIterable<Event> {
    if (!cache || cache.hit) return events;
    // The cache serves the whole tenant, which must not get answers from one key's account.
    if (routes.some(({ byok }) => byok && byok.credential.scopeKeyId !== null)) return events;
    const upstreamModelOf = ({ route }: RouteEvent): string => {
      const answering = routes.find((planned) => planned === route) ?? routes[0];
      return answering.upstreamModel;
    };
    return this.cache.keep(cache, events, upstreamModelOf, callerGone);
  }

  /**
   * Calls one route, and counts the outcome for its health. For work without fallback, because it
   * may be requested only once.
   *
   * @param requestId of the request or job, for log lines
   * @throws UpstreamError when the vendor does not support the work, the operator has paused the
   * route, or whatever the call throws
   */
  attempt<Result>(
    route: PlannedRoute,
    requestId: string,
    call: (upstream: Upstream) => Promise<Result> | undefined,
  ): Promise<Result> {
    return this.singles.attempt(route, requestId, call);
  }

  /** Returns whether the cache has an answer to a request. */
  isKept(caller: Caller, request: RoutableRequest, ttlSeconds: number): Promise<boolean> {
    return this.planner.isKept(caller, request, ttlSeconds);
  }

  /** Returns the state of each shared route that this process has called. */
  conditions(): RouteCondition[] {
    return this.records.health.sharedRoutes();
  }

  /**
   * Counts the prompt's tokens with the first route's vendor; undefined when that vendor does not
   * count or is too slow.
   *
   * @throws InvalidRequestError for a request that the vendor would reject
   * @throws CallerGoneError when the caller disconnected
   */
  async countTokens(plan: Plan): Promise<{ tokens: number; provider: string } | undefined> {
    const [route] = plan.routes;
    const { provider } = route;
    const limits = {
      firstByteMs: Math.min(route.limits.firstByteMs, PATIENCE_FOR_COUNT_MS),
      idleMs: Math.min(route.limits.idleMs, PATIENCE_FOR_COUNT_MS),
      requestMs: Math.min(route.limits.requestMs, PATIENCE_FOR_COUNT_MS),
    };
    try {
      const call = toTextCall(plan, route, limits, plan.callerGone);
      const tokens = await this.upstreams.of(route).countTokens?.(call);
      return tokens === undefined ? undefined : { tokens, provider };
    } catch (error) {
      if (plan.callerGone.aborted) throw new CallerGoneError();
      if (!(error instanceof UpstreamError)) throw error;
      if (!error.allowsFallback) throw callerErrorOf([{ route, error }], plan.request);
      this.logger.warn(`${provider} failed to count tokens: ${error.summary}`, {
        request_id: plan.requestId,
      });
      return undefined;
    }
  }

  /**
   * Returns the shared routes that keep failing in this process; without a model the whole
   * provider.
   */
  failingRoutes(): Omit<RouteCondition, 'state'>[] {
    return this.records.health.failingRoutes();
  }

  /**
   * Returns the adapter of a planned route, over the tenant's BYOK account when the route uses one.
   *
   * @throws UpstreamError `operator` when a stored credential cannot be used
   */
  upstreamOf(route: PlannedRoute): Upstream {
    return this.upstreams.of(route);
  }

  /** Returns the recent speed of a route over the same account; undefined when unknown. */
  speedOf(key: HealthKey): RouteSpeed | undefined {
    return this.records.health.speedOf(key);
  }

  /** Returns whether the route is in cooldown, over the same account. */
  isCooling(key: HealthKey): boolean {
    return this.records.health.isCooling(key);
  }

  private follow(plan: Plan<RoutableRequest>): void {
    plan.speeds = this.records.health;
    plan.uses = this.records.tally;
  }
}
