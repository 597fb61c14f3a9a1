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

/** A count of tokens is worth no longer wait: an estimate takes its place. */
const PATIENCE_FOR_COUNT_MS = 10_000;

/** Decides which vendors are asked for an answer, in which order, and when to go on to the next. */
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

  /** How each account of a provider does that has several, as this process knows; undefined: it has one. */
  accountsOf(provider: string): AccountFigures[] | undefined {
    const members = this.operatorPools.of(provider);
    if (!members) return undefined;
    const { health, pools } = this.records;
    const conditions = health.sharedRoutes();
    return members.map((member) => figuresOf(provider, member, pools, conditions));
  }

  /**
   * The routes that a request will try. Calls nobody. A request that the cache can answer has one
   * route, which costs nothing and is not called.
   *
   * @throws NotFoundError for an unknown model, or when preferences leave no provider
   * @throws MaxCostError when every route could cost more than the caller allows
   * @throws PermissionError for a model that a list does not leave, or where one leaves no provider
   * @throws InvalidRequestError for a model of another kind, or a field that shared capacity refuses
   * @throws ProviderUnavailableError when no provider of the models is configured, or all are paused
   * @throws RateLimitError when all accounts that are left have reached their vendors' limits
   */
  plan<Request extends RoutableRequest>(
    caller: Caller,
    request: Request,
    context: RequestContext,
  ): Promise<Plan<Request>> {
    return this.planner.plan(caller, request, context);
  }

  /**
   * Tries the plan's routes until one yields its first content, and passes its events on. Lazy:
   * nobody is called before the first pull. The first event names the route that answers. Where the plan
   * says so, another route goes on with an answer that breaks off.
   *
   * @throws GatewayError when no route answers, or an answer breaks off
   * @throws CallerGoneError when nobody waits any more
   */
  open(plan: Plan, cover: RouteCover): OpenedAnswer {
    if (plan.cache?.hit) return replay(plan, plan.cache.hit);
    this.follow(plan);
    const { body, dialect } = plan.request;
    // Parts of a Responses body are kept to the end in any case, for the stored answer.
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
   * The same for work that is no text generation. A route whose vendor cannot do such work at all
   * is passed over.
   *
   * @param start begins the work at a vendor, undefined where it has no such work
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
   * Keeps an answer for later when its caller allows it. To be put around everything that looks at
   * the answer, so that one that is withheld is not kept.
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
   * One call to the vendor of one route, which counts for that route's health: for work that has no fallback,
   * because it may be asked for once only.
   *
   * @param requestId of the request or the job that it is for, for our log
   * @throws UpstreamError when the vendor cannot do such work, the operator has paused the route, or
   *   whatever the call throws
   */
  attempt<Result>(
    route: PlannedRoute,
    requestId: string,
    call: (upstream: Upstream) => Promise<Result> | undefined,
  ): Promise<Result> {
    return this.singles.attempt(route, requestId, call);
  }

  /** Whether the cache has an answer to a request now. */
  isKept(caller: Caller, request: RoutableRequest, ttlSeconds: number): Promise<boolean> {
    return this.planner.isKept(caller, request, ttlSeconds);
  }

  /** How each shared route does that this process has called. */
  conditions(): RouteCondition[] {
    return this.records.health.sharedRoutes();
  }

  /**
   * The prompt's length as the vendor of the first route counts it; undefined when that vendor
   * counts none, or does not answer in time.
   *
   * @throws InvalidRequestError for a request that the vendor would refuse
   * @throws CallerGoneError when nobody waits any more
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
      this.logger.warn(`${provider} counted no tokens: ${error.summary}`, {
        request_id: plan.requestId,
      });
      return undefined;
    }
  }

  /** Shared routes that fail again and again, as far as this process knows; without a model the whole provider. */
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

  /** How fast a route has been of late, over the same account; undefined where nothing is known. */
  speedOf(key: HealthKey): RouteSpeed | undefined {
    return this.records.health.speedOf(key);
  }

  /** Whether the route is left alone for a while, over the same account. */
  isCooling(key: HealthKey): boolean {
    return this.records.health.isCooling(key);
  }

  private follow(plan: Plan<RoutableRequest>): void {
    plan.speeds = this.records.health;
    plan.uses = this.records.tally;
  }
}
