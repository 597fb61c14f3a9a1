import type { Logger } from '@nestjs/common';
import type { Clock } from '../../canonical/clock.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import type { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { PlannedRoute } from './plan.js';
import type { RouteHealth } from './route-health.js';
import type { RouteTally } from './route-tally.js';

/** Receives the outcomes of calls to routes. */
export interface AttemptSinks {
  health: RouteHealth;
  metrics: Pick<GatewayMetrics, 'observeAttempt' | 'observeHedge'>;
  tally: RouteTally;
  logger: Pick<Logger, 'warn'>;
  clock: Clock;
}

/** Share of the usual time limit below which a timeout says nothing about the route. */
const FAIR_SHARE = 0.9;
/** Timers may fire this early. */
const CLOCK_SLACK_MS = 5;

/** Records one call to one route in every sink, from its start. */
export class AttemptRecorder {
  private readonly startedMs: number;
  private answeredMs: number | undefined;
  private hasFailed = false;

  /**
   * @param requestId of the client request, for log lines
   * @param limits time limits of this call
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

  /** Records the first content, which is the whole answer when it is not streamed. */
  answered(isStreamed: boolean): void {
    const nowMs = this.records.clock.monotonicMs();
    this.answeredMs = nowMs;
    this.records.health.recordAnswer(this.route, nowMs - this.startedMs, nowMs, isStreamed);
  }

  completed(): void {
    this.records.health.recordCompletion(this.route);
  }

  /** Records a call without an answer, or with `interrupted` an answer that was cut. */
  failed(error: UpstreamError, how: 'failed' | 'interrupted' = 'failed'): void {
    const { health, logger, tally } = this.records;
    if (!this.hadTooLittleTime(error)) {
      health.recordFailure(this.route, error, this.answeredMs ?? this.startedMs);
      this.hasFailed = error.countsAgainst !== undefined;
      if (this.hasFailed && how === 'interrupted') tally.noteFailure(this.route);
    }
    // The error's message may quote the prompt.
    const line = `${nameOf(this.route)} ${how}: ${error.summary}`;
    logger.warn(line, { request_id: this.requestId });
  }

  /**
   * Records a call that was closed because another route's content came first. Counts as silence,
   * not as a failure.
   *
   * @returns as `end`
   */
  outpaced(isStreamed: boolean): number {
    const nowMs = this.records.clock.monotonicMs();
    this.records.health.recordSilence(this.route, nowMs - this.startedMs, nowMs, isStreamed);
    return this.end('outpaced');
  }

  /**
   * Records the end of the call, or the start of its answer.
   *
   * @returns the duration, in whole ms
   */
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

  /**
   * Returns whether the call timed out because earlier routes had left it too little of the
   * request's time.
   */
  private hadTooLittleTime({ failure, status }: UpstreamError): boolean {
    if (failure !== 'timeout' || status !== undefined) return false;
    const { firstByteMs, requestMs } = this.route.limits;
    const leftMs = this.limits.requestMs;
    if (leftMs >= Math.min(firstByteMs, requestMs * FAIR_SHARE)) return false;
    return this.records.clock.monotonicMs() - this.startedMs >= leftMs - CLOCK_SLACK_MS;
  }
}

/** Names the route in log lines, with the tenant's or pool's account. */
function nameOf({ provider, upstreamModel, account, byok }: PlannedRoute): string {
  const name = `${provider}/${upstreamModel}`;
  if (account !== undefined) return `${name} with account ${account}`;
  return byok ? `${name} with credential ${byok.credential.id}` : name;
}
