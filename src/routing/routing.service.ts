import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../access/caller.js';
import { waitUnless } from '../canonical/cancel-signal.js';
import { isContent, type CanonicalEvent } from '../canonical/canonical-event.js';
import type { CanonicalRequest } from '../canonical/canonical-request.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import type { Model } from '../catalogue/model.js';
import { APP_CONFIG, type AppConfig } from '../common/config/app-config.js';
import { InvalidRequestError, NotFoundError } from '../common/errors/gateway-errors.js';
import { CallerGoneError } from '../common/http/read-body.js';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { UpstreamError } from '../upstream/upstream-error.js';
import { UpstreamRegistry } from '../upstream/upstream.registry.js';
import type { UpstreamCall } from '../upstream/upstream.js';
import { describeBreak, describeFailures, type RouteFailure } from './describe-failure.js';
import { OpenedAnswer } from './opened-answer.js';
import {
  Plan,
  type PlannedRoute,
  type RequestContext,
  type RouteAttempt,
  type RouteCover,
} from './plan.js';
import { RouteHealth } from './route-health.js';
import { selectRoutes, type Surroundings } from './select-routes.js';

/** A `Retry-After` this short is waited out, once, before leaving for another model. */
const PATIENCE_BEFORE_NEXT_MODEL_MS = 2_000;
/** … and this short before giving up altogether. */
const PATIENCE_BEFORE_GIVING_UP_MS = 10_000;
/** A count of tokens is worth no longer wait: an estimate takes its place. */
const PATIENCE_FOR_COUNT_MS = 10_000;

/** A route that answers: its events up to the first content, and where the rest comes from. */
interface FirstAnswer {
  attempt: RouteAttempt;
  held: CanonicalEvent[];
  rest: AsyncIterator<CanonicalEvent>;
}

/** Decides which vendors are asked for an answer, in which order, and when to go on to the next. */
@Injectable()
export class RoutingService {
  private readonly logger = new Logger(RoutingService.name);
  private readonly health: RouteHealth;
  private readonly surroundings: Surroundings;

  constructor(
    @Inject(APP_CONFIG) config: AppConfig,
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
    private readonly metrics: GatewayMetrics,
  ) {
    this.health = new RouteHealth(config.limits.cooldownMs);
    this.surroundings = {
      isConfigured: (provider) => upstreams.has(provider),
      isCooling: (key) => this.health.isCooling(key),
      medianLatencyMs: (key) => this.health.medianLatencyMs(key),
      limits: config.limits,
    };
  }

  /**
   * The routes that a request will try. Calls nobody.
   *
   * @throws NotFoundError for an unknown model, or when preferences leave no provider
   * @throws InvalidRequestError for a model of another kind, or a field that shared capacity refuses
   * @throws ProviderUnavailableError when no provider of the models is configured
   */
  async plan(_caller: Caller, request: CanonicalRequest, context: RequestContext): Promise<Plan> {
    const models = request.models.map((alias) => this.findModel(request, alias));
    const routes = selectRoutes(request, models, this.surroundings);
    const bound = request.accountBoundParam;
    if (bound && routes.some((route) => route.trafficMode === 'shared')) {
      throw new InvalidRequestError(bound.param, bound.message);
    }
    return new Plan(request, routes, context);
  }

  /**
   * Tries the plan's routes until one yields its first content, and passes its events on. Lazy:
   * nobody is called before the first pull. The first event names the route that answers.
   *
   * @throws GatewayError when no route answers, or an answer breaks off
   * @throws CallerGoneError when nobody waits any more
   */
  open(plan: Plan, cover: RouteCover): OpenedAnswer {
    return new OpenedAnswer(async () => {
      const { attempt, held, rest } = await this.firstAnswer(plan, cover);
      const { route } = attempt;
      const droppedParams = this.upstreams.get(route.provider).droppedParams(plan.request, route);
      return {
        held: [{ type: 'route', route, droppedParams }, ...held],
        rest,
        describe: (failure) => this.describeBreak(plan, attempt, failure),
      };
    });
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
      const tokens = await this.upstreams
        .get(provider)
        .countTokens?.(toCall(plan, { ...route, limits }));
      return tokens === undefined ? undefined : { tokens, provider };
    } catch (error) {
      if (plan.callerGone.aborted) throw new CallerGoneError();
      if (!(error instanceof UpstreamError)) throw error;
      if (!error.allowsFallback) throw describeFailures([{ route, error }], plan.request.dialect);
      this.logger.warn(`${provider} counted no tokens: ${error.failure}: ${error.message}`);
      return undefined;
    }
  }

  /** Notes that an answer broke off. @returns what the caller is told */
  private describeBreak(plan: Plan, attempt: RouteAttempt, failure: unknown): unknown {
    if (plan.callerGone.aborted) return new CallerGoneError();
    if (!(failure instanceof UpstreamError)) return failure;
    const { route } = attempt;
    attempt.outcome = failure.failure;
    this.health.recordFailure(route, failure);
    this.logger.warn(`${route.provider}/${route.upstreamModel} broke off: ${failure.message}`);
    return describeBreak(route, failure);
  }

  private async firstAnswer(plan: Plan, cover: RouteCover): Promise<FirstAnswer> {
    const failures: RouteFailure[] = [];
    const tryLate = (patienceMs: number, model?: string): Promise<FirstAnswer | undefined> =>
      this.tryAfterWaiting(plan, failures, patienceMs, model);

    for (const [index, route] of plan.routes.entries()) {
      const before = plan.routes[index - 1];
      if (before && before.model !== route.model) {
        const late = await tryLate(PATIENCE_BEFORE_NEXT_MODEL_MS, before.model);
        if (late) return late;
      }
      if (before && !(await this.isCovered(plan, cover, route))) continue;
      const answer = await this.tryRoute(plan, route, failures);
      if (answer) return answer;
    }
    const late = await tryLate(PATIENCE_BEFORE_GIVING_UP_MS);
    if (late) return late;
    throw describeFailures(failures, plan.request.dialect);
  }

  private async isCovered(plan: Plan, cover: RouteCover, route: PlannedRoute): Promise<boolean> {
    if (await cover.cover(route)) return true;
    plan.attempts.push({ route, startedAt: new Date(), durationMs: 0, outcome: 'uncovered' });
    return false;
  }

  /** One try, and a quick second one where a connection broke or a server stumbled. */
  private async tryRoute(
    plan: Plan,
    route: PlannedRoute,
    failures: RouteFailure[],
  ): Promise<FirstAnswer | undefined> {
    const answer = await this.begin(plan, route, failures);
    if (answer || !failures.at(-1)?.error.isRetryable) return answer;
    return this.begin(plan, route, failures);
  }

  /**
   * Waits out the shortest `Retry-After` that a route gave in its last word, when it is short
   * enough, and tries that route again.
   */
  private async tryAfterWaiting(
    plan: Plan,
    failures: RouteFailure[],
    patienceMs: number,
    model: string | undefined,
  ): Promise<FirstAnswer | undefined> {
    const waitOf = ({ error }: RouteFailure): number => error.retryAfterMs ?? Infinity;
    const lastWords = new Map(failures.map((failure) => [failure.route, failure]));
    const [soonest] = [...lastWords.values()]
      .filter(({ route }) => model === undefined || route.model === model)
      .sort((one, other) => waitOf(one) - waitOf(other));
    if (!soonest || waitOf(soonest) > patienceMs) return undefined;
    if (!(await waitUnless(plan.callerGone, waitOf(soonest)))) throw new CallerGoneError();
    return this.begin(plan, soonest.route, failures);
  }

  /**
   * Calls a route and pulls its events up to the first content; notes the failure when there is none.
   *
   * @throws GatewayError for a failure that no other route would mend
   */
  private async begin(
    plan: Plan,
    route: PlannedRoute,
    failures: RouteFailure[],
  ): Promise<FirstAnswer | undefined> {
    if (plan.callerGone.aborted) throw new CallerGoneError();
    const startedMs = performance.now();
    const attempt: RouteAttempt = {
      route,
      startedAt: new Date(),
      durationMs: 0,
      outcome: 'pending',
    };
    plan.attempts.push(attempt);
    this.health.recordTry(route);
    const rest = this.call(plan, route);
    try {
      const held = await pullToContent(rest);
      attempt.outcome = 'answered';
      this.health.recordAnswer(route, performance.now() - startedMs);
      return { attempt, held, rest };
    } catch (error) {
      if (plan.callerGone.aborted) {
        attempt.outcome = 'aborted';
        throw new CallerGoneError();
      }
      if (!(error instanceof UpstreamError)) throw error;
      attempt.outcome = error.failure;
      failures.push({ route, error });
      this.health.recordFailure(route, error);
      this.logger.warn(
        `${route.provider}/${route.upstreamModel} failed: ${error.failure}: ${error.message}`,
      );
      if (!error.allowsFallback) throw describeFailures(failures, plan.request.dialect);
      return undefined;
    } finally {
      attempt.durationMs = Math.round(performance.now() - startedMs);
      this.metrics.observeAttempt(route.provider, route.catalogueId, attempt.outcome);
    }
  }

  private call(plan: Plan, route: PlannedRoute): AsyncIterator<CanonicalEvent> {
    const elapsedMs = Date.now() - plan.startedAt.getTime();
    const requestMs = Math.max(1, route.limits.requestMs - elapsedMs);
    return this.upstreams
      .get(route.provider)
      .generate(toCall(plan, { ...route, limits: { ...route.limits, requestMs } }))
      [Symbol.asyncIterator]();
  }

  private findModel(request: CanonicalRequest, alias: string): Model {
    const param = request.body.value.model === alias ? 'model' : 'models';
    const model = this.catalogue.find(alias);
    if (!model) {
      throw new NotFoundError(
        param,
        `The model ${JSON.stringify(alias)} does not exist here; GET /v1/models lists those that do.`,
      );
    }
    if (model.kind !== 'chat') {
      throw new InvalidRequestError(
        param,
        `${JSON.stringify(alias)} is a model for ${model.kind} and cannot answer a chat.`,
      );
    }
    return model;
  }
}

function toCall(plan: Plan, route: PlannedRoute): UpstreamCall {
  return {
    request: plan.request,
    alias: route.model,
    upstreamModel: route.upstreamModel,
    limits: route.limits,
    maxOutputTokens: route.maxOutputTokens,
    signal: plan.callerGone,
  };
}

async function pullToContent(events: AsyncIterator<CanonicalEvent>): Promise<CanonicalEvent[]> {
  const held: CanonicalEvent[] = [];
  for (;;) {
    const next = await events.next();
    if (next.done) throw new UpstreamError({ failure: 'unreadable', message: 'an empty answer' });
    held.push(next.value);
    if (isContent(next.value)) return held;
  }
}
