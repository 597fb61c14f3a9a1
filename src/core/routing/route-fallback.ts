import type { CancelSignal } from '../../canonical/cancel-signal.js';
import {
  usageIn,
  type CanonicalEvent,
  type RouteEvent,
  type WorkEvent,
} from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { GatewayError, TimeoutError } from '../../platform/errors/gateway-errors.js';
import { Timestamp } from '../../platform/time/timestamp.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits } from '../../vendors/upstream.js';
import { brokenAnswerError, callerErrorOf, type RouteFailure } from './caller-error.js';
import { HedgeRace } from './hedge/hedge-race.js';
import type { HedgeShare } from './hedge/hedge-share.js';
import type { HedgeLeg } from './hedge/hedge-leg.js';
import { pullToContent, type StartedAnswer } from './opened-answer.js';
import type { Plan, PlannedRoute, RouteAttempt, RouteCover } from './plan.js';
import { AttemptRecorder, type AttemptSinks } from './attempt-recorder.js';
import { fullAccount, type AccountPools } from './pool/account-pools.js';
import { isPooled } from './pool/pool-member.js';
import { limitsLeft } from './to-upstream-call.js';

/** Longest `Retry-After` to wait for, once, before moving to another model. */
const PATIENCE_BEFORE_NEXT_MODEL_MS = 2_000;
/** … and before giving up. */
const PATIENCE_BEFORE_GIVING_UP_MS = 10_000;

/** A prepared call to a route. */
export interface RouteCall<Event> {
  events: AsyncIterable<Event>;
  /** Read only for the route that answers. */
  droppedParams: () => readonly string[];
  /** Releases what is not needed once the vendor has the request. */
  asked?: () => void;
  /** Releases what is not needed once the answer has begun, after which no route can take over. */
  answered?: () => void;
}

/**
 * @param signal closes the call
 * @param continued requests the rest of an answer; undefined for the plan's own request
 */
export type MakeRouteCall<Event> = (
  route: PlannedRoute,
  limits: CallLimits,
  signal: CancelSignal,
  continued?: CanonicalRequest,
) => RouteCall<Event>;

/** The first answer: its events up to the first content, and the source of the others. */
export interface FirstAnswer<Event> {
  tried: AttemptRecorder;
  attempt: RouteAttempt;
  droppedParams: readonly string[];
  held: Event[];
  rest: AsyncIterator<Event>;
}

/** Attempt sinks plus the load of account pools. */
export interface FallbackSinks extends AttemptSinks {
  pools: AccountPools;
}

/** Tries the routes of a plan in order until one answers, for any kind of answer. */
export class RouteFallback<Event extends CanonicalEvent | WorkEvent<unknown>> {
  private readonly failures: RouteFailure[] = [];
  private readonly race: HedgeRace<FirstAnswer<Event>> | undefined;

  /**
   * @param call prepares the call to a route; pulling its events starts the call
   * @param share limits hedged requests; undefined disables hedging
   */
  constructor(
    private readonly plan: Plan<RoutableRequest>,
    private readonly cover: RouteCover,
    private readonly call: MakeRouteCall<Event>,
    private readonly records: FallbackSinks,
    share?: HedgeShare,
  ) {
    if (plan.hedgeMs === undefined || plan.routes.length === 1 || !share) return;
    this.race = new HedgeRace(plan, plan.hedgeMs, share, records, {
      ask: (route, leg) => this.tryRoute(route, leg),
      mayTry: (route) =>
        !this.isTooLongFor(route.model) &&
        !records.health.isOnTrial(route) &&
        !(isPooled(route) && records.pools.waitMs(route) > 0),
      cover: (route) => cover.cover(route),
    });
  }

  /**
   * Tries the routes until one yields its first content. The first event names that route.
   *
   * @throws GatewayError when no route answers
   * @throws CallerGoneError when the caller disconnected
   */
  async begin(): Promise<StartedAnswer<Event | RouteEvent>> {
    const { tried, attempt, droppedParams, held, rest } = await this.firstAnswer();
    return {
      held: [{ type: 'route', route: attempt.route, droppedParams }, ...held],
      rest,
      complete: () => tried.completed(),
      // Captures only these two, to let go of the first events.
      toError: (failure) => this.recordInterruption({ tried, attempt }, failure),
    };
  }

  /** Does the same for callers that build the answer's events themselves. */
  async firstAnswer(): Promise<FirstAnswer<Event>> {
    const { routes } = this.plan;
    for (const [index, route] of routes.entries()) {
      const before = routes[index - 1];
      if (before && before.model !== route.model) {
        const late = await this.tryAfterWaiting(PATIENCE_BEFORE_NEXT_MODEL_MS, before.model);
        if (late) return late;
      }
      if (this.isTooLongFor(route.model) || !this.limitsLeft(route)) continue;
      if (this.race?.second === route) continue;
      if (before && !(await this.isCovered(route))) continue;
      const answer = await (this.race ? this.race.ask(route) : this.tryRoute(route));
      if (answer) return answer;
    }
    const late = await this.tryAfterWaiting(PATIENCE_BEFORE_GIVING_UP_MS);
    if (late) return late;
    if (this.failures.length === 0) {
      throw new TimeoutError(
        'The request timed out before a provider could be called. Retry, or raise its time limit.',
      );
    }
    throw callerErrorOf(this.failures, this.plan.request);
  }

  private now(): Timestamp {
    return new Timestamp(this.records.clock);
  }

  private limitsLeft(route: PlannedRoute): CallLimits | undefined {
    return limitsLeft(this.plan, route, this.now());
  }

  /** A prompt that exceeds a model's context does so at each provider. */
  private isTooLongFor(model: string): boolean {
    return this.failures.some(
      ({ route, error }) => error.failure === 'context_length' && route.model === model,
    );
  }

  private async isCovered(route: PlannedRoute): Promise<boolean> {
    if (await this.cover.cover(route)) return true;
    this.plan.attempts.push({ route, startedAt: this.now(), durationMs: 0, outcome: 'uncovered' });
    return false;
  }

  /** Tries a route, and retries once at once after a reset or server error. */
  private async tryRoute(
    route: PlannedRoute,
    leg?: HedgeLeg,
  ): Promise<FirstAnswer<Event> | undefined> {
    const answer = await this.tryOnce(route, leg);
    const last = this.failures.findLast((failure) => failure.route === route);
    if (answer || !last?.error.isRetryable) return answer;
    return this.tryOnce(route, leg);
  }

  /**
   * Waits for the shortest `Retry-After` of the routes' last failures, if short enough, and retries
   * that route.
   */
  private async tryAfterWaiting(
    patienceMs: number,
    model?: string,
  ): Promise<FirstAnswer<Event> | undefined> {
    const waitOf = ({ error }: RouteFailure): number => error.retryAfterMs ?? Infinity;
    const lastWords = new Map(this.failures.map((failure) => [failure.route, failure]));
    const [soonest] = [...lastWords.values()]
      .filter(({ route }) => model === undefined || route.model === model)
      .filter(({ route }) => !this.isTooLongFor(route.model))
      .sort((one, other) => waitOf(one) - waitOf(other));
    if (!soonest || waitOf(soonest) > patienceMs) return undefined;
    const { requestMs } = this.limitsLeft(soonest.route) ?? { requestMs: 0 };
    if (waitOf(soonest) >= requestMs) return undefined;
    if (!(await this.records.clock.wait(this.plan.callerGone, waitOf(soonest))))
      throw new CallerGoneError();
    return this.tryOnce(soonest.route);
  }

  /**
   * Calls a route and pulls its events up to the first content; records a failure without any.
   * Makes no call once the request's time is up.
   *
   * @param leg one of two concurrent calls, which the other may close
   * @throws GatewayError for a failure that no other route would avoid
   */
  private async tryOnce(
    route: PlannedRoute,
    leg?: HedgeLeg,
    continued?: CanonicalRequest,
  ): Promise<FirstAnswer<Event> | undefined> {
    const { plan } = this;
    if (leg?.isClosed) return undefined;
    if (plan.callerGone.aborted) throw new CallerGoneError();
    const limits = this.limitsLeft(route);
    if (!limits) return undefined;
    const pooled = isPooled(route) ? route : undefined;
    const full = pooled && fullAccount(this.records.pools.waitMs(pooled));
    if (full) {
      this.failures.push({ route, error: full });
      return undefined;
    }
    const attempt: RouteAttempt = {
      route,
      startedAt: this.now(),
      durationMs: 0,
      outcome: 'pending',
      ...(pooled && { use: this.records.pools.begin(pooled) }),
    };
    plan.attempts.push(attempt);
    const tried = new AttemptRecorder(route, this.records, plan.requestId, limits);
    const held: Event[] = [];
    leg?.begin(attempt, tried, held);
    try {
      const { events, droppedParams, asked, answered } = this.call(
        route,
        limits,
        leg ?? plan.vendorSignal,
        continued,
      );
      const rest = events[Symbol.asyncIterator]();
      const pulled = pullToContent(rest, held);
      asked?.();
      await pulled;
      if (leg?.claim() === false) {
        await rest.return?.();
        return undefined;
      }
      attempt.outcome = 'answered';
      tried.answered(plan.streamed);
      plan.conversation?.note(route);
      const dropped = droppedParams();
      answered?.();
      return { tried, attempt, held, rest, droppedParams: dropped };
    } catch (error) {
      if (leg?.isClosed) return undefined;
      const isUpstreams = error instanceof UpstreamError;
      // A vendor that fails while the gateway still listens has generated nothing to pay for.
      if (plan.callerGone.aborted && (!isUpstreams || plan.vendorSignal.aborted)) {
        attempt.outcome = 'aborted';
        throw new CallerGoneError();
      }
      if (!isUpstreams) throw error;
      attempt.outcome = error.failure;
      attempt.status = error.status;
      attempt.usage = usageIn(held);
      this.failures.push({ route, error });
      tried.failed(error);
      attempt.use?.fail();
      if (plan.callerGone.aborted) throw new CallerGoneError();
      if (!error.allowsFallback) throw callerErrorOf(this.failures, plan.request);
      return undefined;
    } finally {
      if (!leg?.isClosed) attempt.durationMs = tried.end(attempt.outcome);
    }
  }

  /**
   * Requests the rest of an interrupted answer from a route. Returns undefined when it has none.
   *
   * @throws CallerGoneError when the caller disconnected
   */
  async continueAnswer(
    route: PlannedRoute,
    continued: CanonicalRequest,
  ): Promise<FirstAnswer<Event> | undefined> {
    if (!this.limitsLeft(route) || !(await this.isCovered(route))) return undefined;
    try {
      return await this.tryOnce(route, undefined, continued);
    } catch (error) {
      // The vendor rejects the gateway's continuation, which says nothing about the caller's
      // request.
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  }

  /**
   * Records an interrupted answer.
   *
   * @returns the error for the caller
   */
  recordInterruption(
    { tried, attempt }: Pick<FirstAnswer<Event>, 'tried' | 'attempt'>,
    failure: unknown,
  ): unknown {
    if (this.plan.callerGone.aborted) return new CallerGoneError();
    if (!(failure instanceof UpstreamError)) return failure;
    attempt.outcome = failure.failure;
    attempt.durationMs = this.now().msSince(attempt.startedAt);
    tried.failed(failure, 'interrupted');
    attempt.use?.end();
    return brokenAnswerError(tried.route, failure);
  }
}
