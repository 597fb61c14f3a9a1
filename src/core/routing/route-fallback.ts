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
import { pullToContent, type BegunAnswer } from './opened-answer.js';
import type { Plan, PlannedRoute, RouteAttempt, RouteCover } from './plan.js';
import { AttemptRecorder, type AttemptSinks } from './attempt-recorder.js';
import { fullAccount, type AccountPools } from './pool/account-pools.js';
import { isPooled } from './pool/pool-member.js';
import { limitsLeft } from './to-upstream-call.js';

/** A `Retry-After` this short is waited out, once, before leaving for another model. */
const PATIENCE_BEFORE_NEXT_MODEL_MS = 2_000;
/** … and this short before giving up altogether. */
const PATIENCE_BEFORE_GIVING_UP_MS = 10_000;

/** One call to a route, before its first pull. */
export interface RouteCall<Event> {
  events: AsyncIterable<Event>;
  /** Asked only of the route that answers. */
  droppedParams: () => readonly string[];
  /** Lets go of what nobody needs once the vendor has been asked … */
  asked?: () => void;
  /** … and once its answer has begun, which no other route can take over. */
  answered?: () => void;
}

/**
 * @param signal closes the call
 * @param continued asks for the rest of an answer; undefined: the plan's own request
 */
export type MakeRouteCall<Event> = (
  route: PlannedRoute,
  limits: CallLimits,
  signal: CancelSignal,
  continued?: CanonicalRequest,
) => RouteCall<Event>;

/** A route that answers: its events up to the first content, and where the rest comes from. */
export interface FirstAnswer<Event> {
  tried: AttemptRecorder;
  attempt: RouteAttempt;
  droppedParams: readonly string[];
  held: Event[];
  rest: AsyncIterator<Event>;
}

/** Beside what is kept of each attempt: what the accounts of pools can take. */
export interface FallbackSinks extends AttemptSinks {
  pools: AccountPools;
}

/** Tries the routes of a plan in order until one answers, whatever the answer is made of. */
export class RouteFallback<Event extends CanonicalEvent | WorkEvent<unknown>> {
  private readonly failures: RouteFailure[] = [];
  private readonly race: HedgeRace<FirstAnswer<Event>> | undefined;

  /**
   * @param call makes the call to a route; nobody is called before its events are pulled
   * @param share how many requests may be hedged; undefined: none
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
      ask: (route, lane) => this.tryRoute(route, lane),
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
   * @throws CallerGoneError when nobody waits any more
   */
  async begin(): Promise<BegunAnswer<Event | RouteEvent>> {
    const { tried, attempt, droppedParams, held, rest } = await this.firstAnswer();
    return {
      held: [{ type: 'route', route: attempt.route, droppedParams }, ...held],
      rest,
      complete: () => tried.completed(),
      // Of the answer only this, or its first events would be kept to the end.
      toError: (failure) => this.noteBreak({ tried, attempt }, failure),
    };
  }

  /** The same, for whoever makes the events of the answer. */
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
      throw new TimeoutError('The time of the request was up before any provider was asked.');
    }
    throw callerErrorOf(this.failures, this.plan.request);
  }

  private now(): Timestamp {
    return new Timestamp(this.records.clock);
  }

  private limitsLeft(route: PlannedRoute): CallLimits | undefined {
    return limitsLeft(this.plan, route, this.now());
  }

  /** A prompt that is too long for a model is so at each of its providers. */
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

  /** One try, and a quick second one where a connection broke or a server stumbled. */
  private async tryRoute(
    route: PlannedRoute,
    lane?: HedgeLeg,
  ): Promise<FirstAnswer<Event> | undefined> {
    const answer = await this.tryOnce(route, lane);
    const last = this.failures.findLast((failure) => failure.route === route);
    if (answer || !last?.error.isRetryable) return answer;
    return this.tryOnce(route, lane);
  }

  /**
   * Waits out the shortest `Retry-After` that a route gave in its last word, when it is short
   * enough, and tries that route again.
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
   * Calls a route and pulls its events up to the first content; notes the failure when there is none.
   * Nobody is called once the request's time is up.
   *
   * @param lane where two routes may be asked at once: one of the two, which the other may close
   * @throws GatewayError for a failure that no other route would mend
   */
  private async tryOnce(
    route: PlannedRoute,
    lane?: HedgeLeg,
    continued?: CanonicalRequest,
  ): Promise<FirstAnswer<Event> | undefined> {
    const { plan } = this;
    if (lane?.isClosed) return undefined;
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
    lane?.begin(attempt, tried, held);
    try {
      const { events, droppedParams, asked, answered } = this.call(
        route,
        limits,
        lane ?? plan.vendorSignal,
        continued,
      );
      const rest = events[Symbol.asyncIterator]();
      const pulled = pullToContent(rest, held);
      asked?.();
      await pulled;
      if (lane?.claim() === false) {
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
      if (lane?.isClosed) return undefined;
      const isUpstreams = error instanceof UpstreamError;
      // A vendor that refuses or fails while it is still listened to has made nothing to be paid for.
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
      if (!lane?.isClosed) attempt.durationMs = tried.end(attempt.outcome);
    }
  }

  /**
   * Asks a route for the rest of an answer that broke off. Undefined: it has none to give.
   *
   * @throws CallerGoneError when nobody waits any more
   */
  async goOn(
    route: PlannedRoute,
    continued: CanonicalRequest,
  ): Promise<FirstAnswer<Event> | undefined> {
    if (!this.limitsLeft(route) || !(await this.isCovered(route))) return undefined;
    try {
      return await this.tryOnce(route, undefined, continued);
    } catch (error) {
      // A vendor that refuses what was made here says nothing of the caller's request.
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  }

  /** Notes that an answer broke off. @returns what the caller is told */
  noteBreak(
    { tried, attempt }: Pick<FirstAnswer<Event>, 'tried' | 'attempt'>,
    failure: unknown,
  ): unknown {
    if (this.plan.callerGone.aborted) return new CallerGoneError();
    if (!(failure instanceof UpstreamError)) return failure;
    attempt.outcome = failure.failure;
    attempt.durationMs = this.now().msSince(attempt.startedAt);
    tried.failed(failure, 'broke off');
    attempt.use?.end();
    return brokenAnswerError(tried.route, failure);
  }
}
