import type { Logger } from '@nestjs/common';
import type { Clock } from '../../canonical/clock.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import type { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { PlannedRoute } from './plan.js';
import type { RouteHealth } from './route-health.js';
import type { RouteTally } from './route-tally.js';

/** Where it is kept what became of calls to routes. */
export interface AttemptSinks {
  health: RouteHealth;
  metrics: Pick<GatewayMetrics, 'observeAttempt' | 'observeHedge'>;
  tally: RouteTally;
  logger: Pick<Logger, 'warn'>;
  clock: Clock;
}

/** Of the time that a route would have in a request of its own; with less, a time-out says nothing of it. */
const FAIR_SHARE = 0.9;
/** A timer may fire this much before its time. */
const CLOCK_SLACK_MS = 5;

/** One call to one route, from its begin, and every record that is kept of it. */
export class AttemptRecorder {
  private readonly startedMs: number;
  private answeredMs: number | undefined;
  private hasFailed = false;

  /**
   * @param requestId of the request that the call is for, for our log
   * @param limits what the call may take of the request's time
   */
  constructor(
    readonly route: PlannedRoute,
    private readonly records: AttemptSinks,
    private readonly requestId: string,
    private readonly limits: CallLimits = route.limits,
  ) {
    this.startedMs = records.clock.monotonicMs();
    records.health.recordAttempt(route);
  }

  /** The first content has come; of an answer that is not streamed that is all of it. */
  answered(isStreamed: boolean): void {
    const nowMs = this.records.clock.monotonicMs();
    this.answeredMs = nowMs;
    this.records.health.recordAnswer(this.route, nowMs - this.startedMs, nowMs, isStreamed);
  }

  /** The answer has come to its end. */
  completed(): void {
    this.records.health.recordCompletion(this.route);
  }

  /** There is no answer, or with `broke off` no more of it. */
  failed(error: UpstreamError, how: 'failed' | 'broke off' = 'failed'): void {
    const { health, logger, tally } = this.records;
    if (!this.hadTooLittleTime(error)) {
      health.recordFailure(this.route, error, this.answeredMs ?? this.startedMs);
      this.hasFailed = error.countsAgainst !== undefined;
      if (this.hasFailed && how === 'broke off') tally.noteFailure(this.route);
    }
    // Not the error's message: a vendor may have copied the prompt into it.
    const line = `${nameOf(this.route)} ${how}: ${error.summary}`;
    logger.warn(line, { request_id: this.requestId });
  }

  /** Another route's content came first, and the call was closed. That is no failure, but a silence. @returns as `end` */
  outpaced(isStreamed: boolean): number {
    const nowMs = this.records.clock.monotonicMs();
    this.records.health.recordSilence(this.route, nowMs - this.startedMs, nowMs, isStreamed);
    return this.end('outpaced');
  }

  /** The call is over, or its answer has begun. @returns how long that took, in whole ms */
  end(outcome: string): number {
    const { provider, catalogueId } = this.route;
    this.records.metrics.observeAttempt(provider, catalogueId, outcome);
    if (this.answeredMs !== undefined) {
      this.records.tally.noteAnswer(this.route, this.answeredMs - this.startedMs);
    } else if (this.hasFailed) {
      this.records.tally.noteFailure(this.route);
    }
    return Math.round(this.records.clock.monotonicMs() - this.startedMs);
  }

  /** Whether the request's time was up, of which the routes before had left too little for this one. */
  private hadTooLittleTime({ failure, status }: UpstreamError): boolean {
    if (failure !== 'timeout' || status !== undefined) return false;
    const { firstByteMs, requestMs } = this.route.limits;
    const leftMs = this.limits.requestMs;
    if (leftMs >= Math.min(firstByteMs, requestMs * FAIR_SHARE)) return false;
    return this.records.clock.monotonicMs() - this.startedMs >= leftMs - CLOCK_SLACK_MS;
  }
}

/** For our log, where a tenant's own account must not look like the operator's. */
function nameOf({ provider, upstreamModel, account, byok }: PlannedRoute): string {
  const name = `${provider}/${upstreamModel}`;
  if (account !== undefined) return `${name} over the account ${account}`;
  return byok ? `${name} over the credential ${byok.credential.id}` : name;
}
