import { routeName } from '../../core/ledger/vendor-cost.js';
import type { LoggedAttempt } from '../../core/request-log/request-log-row.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { Faults } from './faults.js';
import { latestCall, type WindowRow } from './log-window.js';
import { failureOf, paceOf, type LearnedFailure, type LearnedVendors } from './learned-vendors.js';

/** Who said what a call came to: what was taken away, the log, or what was learned from it, or nobody. */
export type OutcomeSource = 'fault' | 'log' | 'learned' | 'guessed';

/** What a call to a vendor comes to. */
export interface VendorOutcome {
  /** To the first content, or to a failure before it. */
  readonly firstMs: number;
  /** From the first content to the end, or to a failure in the middle. */
  readonly restMs: number;
  /** Undefined: a whole answer. */
  readonly failure: LearnedFailure | undefined;
  readonly breaksOff: boolean;
  /** Credits that the vendor took for a call that failed. */
  readonly wasted: number;
  readonly source: OutcomeSource;
}

/** What vendors do to one request: what its log row says of a route comes first, and once. */
export class VendorOutcomes {
  private readonly logged = new Map<string, LoggedAttempt[]>();
  private readonly last: LoggedAttempt | undefined;
  private asked = 0;

  constructor(
    private readonly row: WindowRow,
    private readonly vendors: LearnedVendors,
    private readonly faults: Faults | undefined,
  ) {
    for (const attempt of row.attempts) {
      if (attempt.outcome === 'uncovered') continue;
      const others = this.logged.get(attempt.route);
      if (others) others.push(attempt);
      else this.logged.set(attempt.route, [attempt]);
    }
    this.last = latestCall(row);
  }

  /**
   * Of the next call.
   *
   * @param nowMs the time of the log
   */
  next(route: PlannedRoute, limits: CallLimits, nowMs: number): VendorOutcome {
    this.asked++;
    const fault = this.faults?.of(route, nowMs);
    if (fault) {
      const limitMs = Math.min(limits.firstByteMs, limits.requestMs);
      const afterMs = fault.afterMs === 'limit' ? limitMs : fault.afterMs;
      return failing(afterMs, { failure: fault.failure, status: fault.status }, 'fault');
    }
    const logged = this.logged.get(routeName(route));
    if (logged) return this.ofLog(logged, route, nowMs);
    return this.refused(route) ?? this.learned(route, nowMs);
  }

  private ofLog(logged: LoggedAttempt[], route: PlannedRoute, nowMs: number): VendorOutcome {
    const [attempt] = logged;
    if (attempt!.outcome === 'outpaced') return this.outpaced(attempt!, route, nowMs);
    const failure = failureOf(attempt!);
    // One that failed goes on to fail, at once, where the log has no second call.
    if (logged.length > 1) logged.shift();
    else if (failure) logged[0] = { ...attempt!, duration_ms: 0, vendor_cost: 0 };
    const hasContent = attempt === this.last && this.row.firstTokenMs !== null;
    if (failure && !hasContent) {
      return { ...failing(attempt!.duration_ms, failure, 'log'), wasted: attempt!.vendor_cost };
    }
    const { firstMs, restMs } = paceOf(this.row, attempt!);
    const wasted = failure ? attempt!.vendor_cost : 0;
    const breaksOff = failure !== undefined;
    return { firstMs, restMs, failure, breaksOff, wasted, source: 'log' };
  }

  /** All that is known of it is that it was silent until it was closed. */
  private outpaced({ duration_ms: silentMs }: LoggedAttempt, route: PlannedRoute, nowMs: number) {
    const fate = this.learned(route, nowMs);
    return { ...fate, firstMs: Math.max(fate.firstMs, silentMs + 1) };
  }

  /** What one vendor called a bad request, or found too long, is so for the others. */
  private refused(route: PlannedRoute): VendorOutcome | undefined {
    for (const attempt of this.row.attempts) {
      const failure = failureOf(attempt);
      const isShared =
        failure?.failure === 'caller' ||
        (failure?.failure === 'context_length' && attempt.route.endsWith(`/${route.model}`));
      if (failure && isShared) return failing(attempt.duration_ms, failure, 'log');
    }
    return undefined;
  }

  private learned(route: PlannedRoute, nowMs: number): VendorOutcome {
    const { vendors, row, asked } = this;
    const name = routeName(route);
    const failed = vendors.failure(name, nowMs, row.requestId, asked);
    if (failed) return failing(failed.durationMs, failed, 'learned');
    const { firstMs, restMs, isGuess } = vendors.pace(name, row, row.requestId, asked);
    const source = isGuess ? 'guessed' : 'learned';
    return { firstMs, restMs, failure: undefined, breaksOff: false, wasted: 0, source };
  }
}

function failing(
  firstMs: number,
  { failure, status }: LearnedFailure,
  source: OutcomeSource,
): VendorOutcome {
  return { firstMs, restMs: 0, failure: { failure, status }, breaksOff: false, wasted: 0, source };
}
