import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { asServed } from '../../canonical/served-prices.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { capUsage } from '../../core/ledger/plausible-usage.js';
import { NO_CHARGE, priceRoute, splitCharge } from '../../core/ledger/pricing.js';
import { routeName, vendorCostOf } from '../../core/ledger/vendor-cost.js';
import { OpenedAnswer } from '../../core/routing/opened-answer.js';
import type { Plan, PlannedRoute } from '../../core/routing/plan.js';
import { RouteFallback, type MakeRouteCall } from '../../core/routing/route-fallback.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { Faults } from './faults.js';
import type { LearnedFailure, LearnedVendors } from './learned-vendors.js';
import { isUsed, latestCall, usageOf, type WindowRow } from './log-window.js';
import type { ReplayConfig } from './replay-config.js';
import type { ReplayLimits, TakenLimits } from './replay-limits.js';
import { ReplayPlanner } from './replay-planner.js';
import {
  isPlayable,
  outcomeOf,
  refusalOf,
  refused,
  unknownCaller,
  type ReplayResult,
} from './replay-result.js';
import type { ReplayTime } from './replay-time.js';
import type { ReplayedCaller, ReplayEnvironment } from './replay-environment.js';
import { requestOf } from './replayed-request.js';
import { SimulatedLedger, type SimulatedHold } from './simulated-ledger.js';
import { VendorOutcomes, type VendorOutcome, type OutcomeSource } from './vendor-outcomes.js';

const IN_THE_LOG_TOO: ReadonlySet<string> = new Set(['failed', 'timeout']);

export interface ReplayOptions {
  readonly environment: ReplayEnvironment;
  readonly vendors: LearnedVendors;
  readonly config: ReplayConfig;
  readonly time: ReplayTime;
  /** Without a change there are neither faults nor limits, because everything was admitted. */
  readonly faults?: Faults;
  readonly limits?: ReplayLimits;
  readonly onEnd: (result: ReplayResult) => void;
}

/**
 * Replays logged requests. The service's own planner chooses the routes, and its ledger functions hold
 * and charge credits. Vendors respond as logged, or according to their statistics in the window.
 */
export class Replay {
  /** Number of calls by the source of their outcome. */
  readonly calls: Record<OutcomeSource, number> = { fault: 0, log: 0, learned: 0, guessed: 0 };
  private readonly ledger: SimulatedLedger;
  private readonly planner: ReplayPlanner;
  /** The first unexpected error. */
  fault: unknown;

  constructor(private readonly options: ReplayOptions) {
    const { time, environment } = options;
    this.ledger = new SimulatedLedger(environment.tenantBalances, time.clock);
    this.planner = new ReplayPlanner(options);
    for (const { atMs, tenantId, credits } of environment.movements) {
      time.clock.at(time.of(atMs), () => this.ledger.add(tenantId, credits));
    }
  }

  /** Schedules the request at a time in the log that the clock has not reached yet. */
  schedule(row: WindowRow, atMs: number, copy = 0): void {
    const { time, onEnd } = this.options;
    time.clock.at(time.of(atMs), () => {
      this.play(row, copy).then(onEnd, (error: unknown) => (this.fault ??= error));
    });
  }

  private async play(row: WindowRow, copy: number): Promise<ReplayResult> {
    const { environment, time, config, vendors, faults, limits } = this.options;
    const { clock } = time;
    const known = environment.callers.get(row.apiKeyId) ?? unknownCaller(row);
    config.useVersionOf(row);
    const model = config.catalogue.find(row.model);
    if (!model || !isPlayable(row, environment)) return this.countAsLogged(row, copy, known);
    const arrivedMs = clock.now();
    const logged = usageOf(row);
    const usage = isUsed(logged) ? logged : (vendors.typicalUsage(row.model) ?? logged);
    const request = requestOf(row, usage, model.kind);
    let held: SimulatedHold;
    let plan: Plan<RoutableRequest>;
    let taken: TakenLimits | undefined;
    try {
      plan = this.planner.plan(request, row, copy, known.subjects);
      taken = await limits?.take(known, plan);
      held = this.ledger.hold(known.caller, plan);
    } catch (error) {
      taken?.end(undefined);
      return refused(row, copy, ...refusalOf(error));
    }
    const outcomes = new VendorOutcomes(row, vendors, faults);
    const notes = { wasted: row.otherVendorCost ?? 0 };
    await clock.sleep(row.attempts[0]?.started_ms ?? 0);
    const call: MakeRouteCall<CanonicalEvent> = (route, callLimits, signal) => {
      if (plan.hedgeMs !== undefined) signal.noteSent?.();
      const outcome = outcomes.next(route, callLimits, time.logNow());
      return { events: this.answer(outcome, callLimits, notes), droppedParams: () => [] };
    };
    const { records, hedges, health } = this.planner;
    const fallback = new RouteFallback<CanonicalEvent>(plan, held.hold, call, records, hedges);
    let route: PlannedRoute | undefined;
    let firstMs: number | undefined;
    try {
      for await (const event of new OpenedAnswer(() => fallback.begin())) {
        if (event.type === 'route') {
          route = plan.routes.find((planned) => planned === event.route);
          firstMs = clock.now() - arrivedMs;
        }
      }
    } catch (error) {
      plan.noteEnd(NO_USAGE);
      taken?.end(0);
      this.ledger.settle(held, NO_CHARGE);
      const vendorCost = notes.wasted + lostCostOf(plan, row);
      return { ...refused(row, copy, ...refusalOf(error)), vendorCost };
    }
    const answered = route ?? plan.routes[0];
    const totalMs = clock.now() - arrivedMs;
    health.recordSpeed(answered, usage.outputTokens, totalMs - (firstMs ?? 0));
    plan.noteEnd(usage);
    taken?.end(usage.inputTokens + usage.outputTokens);
    const { cost, vendorCost } = this.charge(row, held, answered, usage);
    const failsToo = IN_THE_LOG_TOO.has(row.outcome) && latestCall(row)?.outcome === 'answered';
    return {
      ...{ row, copy, cost, firstMs, totalMs, provider: answered.provider, isPlayed: true },
      vendorCost: vendorCost + notes.wasted + lostCostOf(plan, row),
      outcome: failsToo ? 'failed' : 'answered',
      errorType: failsToo ? (row.errorType ?? undefined) : undefined,
    };
  }

  private async *answer(
    outcome: VendorOutcome,
    limits: CallLimits,
    notes: { wasted: number },
  ): AsyncGenerator<CanonicalEvent> {
    const { clock } = this.options.time;
    this.calls[outcome.source]++;
    const fail = (): never => {
      notes.wasted += outcome.wasted;
      throw withoutStack(() => toUpstreamError(outcome.failure!));
    };
    // Logged calls have ended within their limits.
    const isOver = outcome.source !== 'log' && outcome.firstMs + outcome.restMs > limits.requestMs;
    if (isOver && outcome.firstMs > limits.requestMs) {
      await clock.sleep(limits.requestMs);
      throw requestOver();
    }
    await clock.sleep(outcome.firstMs);
    if (outcome.failure && !outcome.isInterrupted) fail();
    yield { type: 'text', choice: 0, text: '.' };
    await clock.sleep(isOver ? limits.requestMs - outcome.firstMs : outcome.restMs);
    if (isOver) throw requestOver();
    if (outcome.failure) fail();
    yield { type: 'finish', choice: 0, reason: 'stop' };
  }

  /** Charges by the ledger's rules: logged free requests stay free, and abandoned ones cost at most the hold. */
  private charge(row: WindowRow, held: SimulatedHold, route: PlannedRoute, used: Usage) {
    const wasFree =
      row.usageSource === 'none' &&
      (row.outcome === 'cancelled' ||
        (row.outcome !== 'completed' && latestCall(row)?.outcome === 'answered'));
    if (wasFree) {
      this.ledger.settle(held, NO_CHARGE);
      return { cost: 0, vendorCost: row.vendorCost ?? 0 };
    }
    const { usage } = capUsage(used, 'upstream', route);
    // The log lacks the tier that served it, so the requested one is assumed.
    const priced = asServed(route, usage);
    const whole = priceRoute(usage, priced);
    const isLeft = row.outcome === 'cancelled' || row.outcome === 'timeout';
    const charge = isLeft ? splitCharge(whole, held.hold.credits).charge : whole;
    const { cost } = this.ledger.settle(held, charge, route.maxCost);
    return { cost, vendorCost: vendorCostOf(usage, priced) };
  }

  /** Repeats the logged outcome of a request that cannot be replayed, including its cost. */
  private async countAsLogged(
    row: WindowRow,
    copy: number,
    { caller }: ReplayedCaller,
  ): Promise<ReplayResult> {
    await this.options.time.clock.sleep(row.latencyMs);
    const { cost, latencyMs, firstTokenMs, status, errorType } = row;
    if (cost > 0) this.ledger.take(caller, cost);
    const isAnswered = status === 'success';
    return {
      ...{ row, copy, cost, vendorCost: row.vendorCost ?? 0, isPlayed: false },
      outcome: isAnswered ? 'answered' : outcomeOf(errorType),
      errorType: errorType ?? undefined,
      firstMs: isAnswered ? (firstTokenMs ?? latencyMs) : undefined,
      totalMs: isAnswered ? latencyMs : undefined,
      provider: row.provider,
    };
  }
}

function toUpstreamError({ failure, status }: LearnedFailure): UpstreamError {
  const message = 'as in the log';
  return new UpstreamError({ failure, message, ...(status !== undefined && { status }) });
}

/** Stack traces take several times as long as creating an error, and these errors are expected. */
function withoutStack<Made>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns the vendor cost of superseded hedge legs, as logged or else as the service estimates it. */
function lostCostOf({ attempts }: Plan<RoutableRequest>, row: WindowRow): number {
  let cost = 0;
  for (const { outcome, route, usage } of attempts) {
    if (outcome !== 'outpaced') continue;
    const logged = row.attempts.find((each) => each.route === routeName(route));
    if (logged?.outcome === 'outpaced') cost += logged.vendor_cost;
    else if (usage) cost += vendorCostOf(usage, route);
  }
  return cost;
}

function requestOver(): UpstreamError {
  return new UpstreamError({
    failure: 'timeout',
    message: "the request's time is up",
    isRequestOver: true,
  });
}
