import { routeName } from '../../core/ledger/vendor-cost.js';
import type { LoggedAttempt } from '../../core/request-log/request-log-row.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { Faults } from './faults.js';
import { latestCall, type WindowRow } from './log-window.js';
import { failureOf, paceOf, type LearnedFailure, type LearnedVendors } from './learned-vendors.js';

/** Where a call's outcome comes from: the change, the log, the window's statistics, or a guess. */
export type OutcomeSource = 'fault' | 'log' | 'learned' | 'guessed';

/** The outcome of a call to a vendor. */
export interface VendorOutcome {
  /** Time to first content, or to a failure before it. */
  readonly firstMs: number;
  /** Time from first content to the end, or to a failure midway. */
  readonly restMs: number;
  /** Undefined for a complete answer. */
  readonly failure: LearnedFailure | undefined;
  /** True when the failure comes after the first content. */
  readonly isInterrupted: boolean;
  /** Credits that the vendor charged for a failed call. */
  readonly wasted: number;
  readonly source: OutcomeSource;
}

/** Yields the outcomes of one request's calls. Each logged call of a route is used once, first. */
export class VendorOutcomes {
  private readonly logged = new Map<string, LoggedAttempt[]>();
  private readonly last: LoggedAttempt | undefined;
  private calls = 0;

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
   * Returns the outcome of the next call.
   *
   * @param nowMs time in the log
   */
  next(route: PlannedRoute, limits: CallLimits, nowMs: number): VendorOutcome {
    this.calls++;
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
    if (attempt!.outcome === 'outpaced') return this.superseded(attempt!, route, nowMs);
    const failure = failureOf(attempt!);
    // Without a second logged call, a failed route keeps failing, at once.
    if (logged.length > 1) logged.shift();
    else if (failure) logged[0] = { ...attempt!, duration_ms: 0, vendor_cost: 0 };
    const hasContent = attempt === this.last && this.row.firstTokenMs !== null;
    if (failure && !hasContent) {
      return { ...failing(attempt!.duration_ms, failure, 'log'), wasted: attempt!.vendor_cost };
    }
    const { firstMs, restMs } = paceOf(this.row, attempt!);
    const wasted = failure ? attempt!.vendor_cost : 0;
    const isInterrupted = failure !== undefined;
    return { firstMs, restMs, failure, isInterrupted, wasted, source: 'log' };
  }

  /** A superseded call is known only to have been silent until it was closed. */
  private superseded({ duration_ms: silentMs }: LoggedAttempt, route: PlannedRoute, nowMs: number) {
    const outcome = this.learned(route, nowMs);
    return { ...outcome, firstMs: Math.max(outcome.firstMs, silentMs + 1) };
  }

  /** A bad request or an exceeded context at one vendor fails at the others too. */
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
    const { vendors, row, calls } = this;
    const name = routeName(route);
    const failed = vendors.failure(name, nowMs, row.requestId, calls);
    if (failed) return failing(failed.durationMs, failed, 'learned');
    const { firstMs, restMs, isGuess } = vendors.pace(name, row, row.requestId, calls);
    const source = isGuess ? 'guessed' : 'learned';
    return { firstMs, restMs, failure: undefined, isInterrupted: false, wasted: 0, source };
  }
}

function failing(
  firstMs: number,
  { failure, status }: LearnedFailure,
  source: OutcomeSource,
): VendorOutcome {
  const error = { failure, status };
  return { firstMs, restMs: 0, failure: error, isInterrupted: false, wasted: 0, source };
}
