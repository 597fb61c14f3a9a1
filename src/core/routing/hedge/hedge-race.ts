import { Canceller } from '../../../canonical/cancel-signal.js';
import type { Clock } from '../../../canonical/clock.js';
import type { RoutableRequest } from '../../../canonical/work-request.js';
import type { GatewayMetrics } from '../../../platform/metrics/gateway-metrics.js';
import type { Plan, PlannedRoute, RouteAttempt } from '../plan.js';
import type { HedgeShare } from './hedge-share.js';
import { HedgeLeg } from './hedge-leg.js';

/** Receives hedge outcomes and keeps the hedge delay's clock. */
export interface HedgeSinks {
  readonly metrics: Pick<GatewayMetrics, 'observeHedge'>;
  readonly clock: Clock;
}

/** Operations that a race needs from the walk over the routes. */
export interface HedgedWalk<Answer> {
  /**
   * Calls a route. Returns undefined when it has no answer.
   *
   * @throws GatewayError when no other route would have one
   */
  ask(route: PlannedRoute, leg: HedgeLeg): Promise<Answer | undefined>;
  /** Returns whether a route may be called only for speed. */
  mayTry(route: PlannedRoute): boolean;
  /** Reserves the route's ceiling, if the tenant's credits cover it. */
  cover(route: PlannedRoute): Promise<boolean>;
}

/**
 * Calls a second route once per request, when the first one stays silent too long. The first
 * content wins and the other call is closed at once.
 */
export class HedgeRace<Answer extends { readonly attempt: RouteAttempt }> {
  /** Undefined until the hedge starts. */
  second: PlannedRoute | undefined;
  private isDue = true;

  constructor(
    private readonly plan: Plan<RoutableRequest>,
    private readonly afterMs: number,
    private readonly share: HedgeShare,
    private readonly records: HedgeSinks,
    private readonly walk: HedgedWalk<Answer>,
  ) {
    share.noteRequest();
  }

  /**
   * Calls a route, and a second one if it stays silent. Returns undefined when neither answers.
   *
   * @throws GatewayError when no other route would answer, CallerGoneError when the caller
   * disconnected
   */
  async ask(route: PlannedRoute): Promise<Answer | undefined> {
    const { clock } = this.records;
    const leg = new HedgeLeg(this.plan, clock);
    const asked = this.walk.ask(route, leg);
    if (!this.isDue) return asked;
    const over = new Canceller();
    const end = (): void => over.abort();
    asked.then(end, end);
    if (!(await clock.wait(over, this.afterMs))) return asked;
    this.isDue = false;
    const second = await this.secondTo(route, leg, over);
    if (!second) return asked;
    this.second = second;
    const spare = new HedgeLeg(this.plan, clock, true);
    leg.other = spare;
    spare.other = leg;
    return this.firstOf({ leg, asked }, { leg: spare, asked: this.walk.ask(second, spare) });
  }

  /** Returns the route to hedge with, already paid for; undefined when there is none. */
  private async secondTo(
    silent: PlannedRoute,
    leg: HedgeLeg,
    over: Canceller,
  ): Promise<PlannedRoute | undefined> {
    const { plan, share } = this;
    if (plan.callerGone.aborted) return this.refuse('caller_left');
    const route = this.candidateFor(silent);
    if (!route) return this.refuse('no_route');
    if (!share.hasRoom) return this.refuse('over_share');
    // A ledger failure must not disturb the first call.
    const isCovered = await this.walk.cover(route).catch(() => false);
    if (!isCovered) return this.refuse('uncovered');
    if (plan.callerGone.aborted) return this.refuse('caller_left');
    // The first call has answered or ended meanwhile.
    if (over.aborted || leg.hasWon) return undefined;
    return share.take() ? route : this.refuse('over_share');
  }

  /** Picks a route over another account: of the same model first, then of the chain. */
  private candidateFor(silent: PlannedRoute): PlannedRoute | undefined {
    const { routes, attempts } = this.plan;
    const others = routes.filter(
      (route) =>
        !isSameAccount(route, silent) &&
        !attempts.some((attempt) => attempt.route === route) &&
        this.walk.mayTry(route),
    );
    return others.find(({ model }) => model === silent.model) ?? others[0];
  }

  private refuse(outcome: string): undefined {
    this.records.metrics.observeHedge(outcome);
  }

  private async firstOf(...runs: [Run<Answer>, Run<Answer>]): Promise<Answer | undefined> {
    const [, { leg: spare }] = runs;
    const { callerGone } = this.plan;
    const onLeft = (): void => spare.closeHedge();
    callerGone.addEventListener('abort', onLeft);
    let outcome = 'failed';
    try {
      const answer = await firstAnswerOf(runs);
      if (answer) outcome = answer.attempt.isHedge ? 'won' : 'lost';
      if (outcome === 'won') this.share.noteWin();
      return answer;
    } catch (error) {
      if (callerGone.aborted) outcome = 'caller_left';
      throw error;
    } finally {
      callerGone.removeEventListener('abort', onLeft);
      this.records.metrics.observeHedge(outcome);
    }
  }
}

interface Run<Answer> {
  readonly leg: HedgeLeg;
  readonly asked: Promise<Answer | undefined>;
}

/**
 * Resolves with the first answer. One call's failure leaves the other running, but a failure that
 * no route would avoid ends both.
 */
function firstAnswerOf<Answer>(runs: readonly Run<Answer>[]): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let running = runs.length;
    for (const { leg, asked } of runs) {
      asked.then(
        (answer) => {
          if (answer !== undefined) return resolve(answer);
          leg.other?.goOnAlone();
          if (--running === 0) resolve(undefined);
        },
        (error: Error) => {
          leg.other?.close('aborted');
          reject(error);
        },
      );
    }
  });
}

/** A slow account may be slow again, and both calls would count against its limits. */
function isSameAccount(one: PlannedRoute, other: PlannedRoute): boolean {
  return (
    one.provider === other.provider &&
    one.account === other.account &&
    one.byok?.credential.id === other.byok?.credential.id
  );
}
