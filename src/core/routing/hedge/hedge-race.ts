import { Canceller } from '../../../canonical/cancel-signal.js';
import type { Clock } from '../../../canonical/clock.js';
import type { RoutableRequest } from '../../../canonical/work-request.js';
import type { GatewayMetrics } from '../../../platform/metrics/gateway-metrics.js';
import type { Plan, PlannedRoute, RouteAttempt } from '../plan.js';
import type { HedgeShare } from './hedge-share.js';
import { HedgeLeg } from './hedge-leg.js';

/** Where it is counted what became of second routes, and by whose time they are due. */
export interface HedgeSinks {
  readonly metrics: Pick<GatewayMetrics, 'observeHedge'>;
  readonly clock: Clock;
}

/** What a race needs of who walks the routes. */
export interface HedgedWalk<Answer> {
  /** Asks a route. Undefined: it has no answer. @throws GatewayError when no other route would have one */
  ask(route: PlannedRoute, lane: HedgeLeg): Promise<Answer | undefined>;
  /** Whether a route may be asked for nothing but speed. */
  mayTry(route: PlannedRoute): boolean;
  /** Sets aside what a route may cost at most, where that is more than is there. */
  cover(route: PlannedRoute): Promise<boolean>;
}

/**
 * Asks a second route as well, once for a request, when the one that was asked is silent for so long. The
 * first content wins, and the other call is closed at once.
 */
export class HedgeRace<Answer extends { readonly attempt: RouteAttempt }> {
  /** The second route; undefined before it is asked. */
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
   * Asks a route, and a second one if that is silent. Undefined: neither has an answer.
   *
   * @throws GatewayError when no other route would have one, CallerGoneError when nobody waits any more
   */
  async ask(route: PlannedRoute): Promise<Answer | undefined> {
    const { clock } = this.records;
    const lane = new HedgeLeg(this.plan, clock);
    const asked = this.walk.ask(route, lane);
    if (!this.isDue) return asked;
    const over = new Canceller();
    const end = (): void => over.abort();
    asked.then(end, end);
    if (!(await clock.wait(over, this.afterMs))) return asked;
    this.isDue = false;
    const second = await this.secondTo(route, lane, over);
    if (!second) return asked;
    this.second = second;
    const spare = new HedgeLeg(this.plan, clock, true);
    lane.other = spare;
    spare.other = lane;
    return this.firstOf({ lane, asked }, { lane: spare, asked: this.walk.ask(second, spare) });
  }

  /** The route to ask as well, which is paid for by now; undefined: none. */
  private async secondTo(
    silent: PlannedRoute,
    lane: HedgeLeg,
    over: Canceller,
  ): Promise<PlannedRoute | undefined> {
    const { plan, share } = this;
    if (plan.callerGone.aborted) return this.refuse('caller_left');
    const route = this.candidateFor(silent);
    if (!route) return this.refuse('no_route');
    if (!share.hasRoom) return this.refuse('over_share');
    // Whatever is wrong with the books, the first route goes on.
    const isCovered = await this.walk.cover(route).catch(() => false);
    if (!isCovered) return this.refuse('uncovered');
    if (plan.callerGone.aborted) return this.refuse('caller_left');
    // It has been silent no longer.
    if (over.aborted || lane.hasWon) return undefined;
    return share.take() ? route : this.refuse('over_share');
  }

  /** Over another account: the same model's first, then those of the chain. */
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
    const [, { lane: spare }] = runs;
    const { callerGone } = this.plan;
    const onLeft = (): void => spare.leave();
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
  readonly lane: HedgeLeg;
  readonly asked: Promise<Answer | undefined>;
}

/** Whoever has none leaves the other alone; what no other route would mend ends both. */
function firstAnswerOf<Answer>(runs: readonly Run<Answer>[]): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let running = runs.length;
    for (const { lane, asked } of runs) {
      asked.then(
        (answer) => {
          if (answer !== undefined) return resolve(answer);
          lane.other?.goOnAlone();
          if (--running === 0) resolve(undefined);
        },
        (error: Error) => {
          lane.other?.close('aborted');
          reject(error);
        },
      );
    }
  });
}

/** What one account is slow with, it may be slow with again; and its limits are for both. */
function isSameAccount(one: PlannedRoute, other: PlannedRoute): boolean {
  return (
    one.provider === other.provider &&
    one.account === other.account &&
    one.byok?.credential.id === other.byok?.credential.id
  );
}
