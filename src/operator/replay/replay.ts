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
import type { ReplayedCaller, ReplayWorld } from './replay-environment.js';
import { requestOf } from './replayed-request.js';
import { SimulatedLedger, type SimulatedHold } from './simulated-ledger.js';
import { VendorOutcomes, type VendorOutcome, type OutcomeSource } from './vendor-outcomes.js';

const IN_THE_LOG_TOO: ReadonlySet<string> = new Set(['failed', 'timeout']);

export interface ReplayOptions {
  readonly world: ReplayWorld;
  readonly vendors: LearnedVendors;
  readonly config: ReplayConfig;
  readonly time: ReplayTime;
  /** What is taken away; where nothing is changed there are neither faults nor limits, as all was let in. */
  readonly faults?: Faults;
  readonly limits?: ReplayLimits;
  readonly onEnd: (result: ReplayResult) => void;
}

/**
 * Plays requests of the log again: the service's own planner chooses and walks the routes and its ledger's
 * functions set aside and charge, while vendors do what the log says that they did, or what was learned of them.
 */
export class Replay {
  /** Calls by who said what they came to. */
  readonly calls: Record<OutcomeSource, number> = { fault: 0, log: 0, learned: 0, guessed: 0 };
  private readonly ledger: SimulatedLedger;
  private readonly planner: ReplayPlanner;
  /** Faults of this program, of which the first is worth to be told. */
  fault: unknown;

  constructor(private readonly options: ReplayOptions) {
    const { time, world } = options;
    this.ledger = new SimulatedLedger(world.tenantBalances, time.clock);
    this.planner = new ReplayPlanner(options);
    for (const { atMs, tenantId, credits } of world.movements) {
      time.clock.at(time.of(atMs), () => this.ledger.add(tenantId, credits));
    }
  }

  /** Has the request come in at a moment of the log that the clock has not reached yet. */
  schedule(row: WindowRow, atMs: number, copy = 0): void {
    const { time, onEnd } = this.options;
    time.clock.at(time.of(atMs), () => {
      this.play(row, copy).then(onEnd, (error: unknown) => (this.fault ??= error));
    });
  }

  private async play(row: WindowRow, copy: number): Promise<ReplayResult> {
    const { world, time, config, vendors, faults, limits } = this.options;
    const { clock } = time;
    const known = world.callers.get(row.apiKeyId) ?? unknownCaller(row);
    config.useVersionOf(row);
    const model = config.catalogue.find(row.model);
    if (!model || !isPlayable(row, world)) return this.passOn(row, copy, known);
    const arrivedMs = clock.now();
    const logged = usageOf(row);
    const usage = isUsed(logged) ? logged : (vendors.usualUsage(row.model) ?? logged);
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
    const fates = new VendorOutcomes(row, vendors, faults);
    const notes = { wasted: row.besides ?? 0 };
    await clock.sleep(row.attempts[0]?.started_ms ?? 0);
    const call: MakeRouteCall<CanonicalEvent> = (route, callLimits, signal) => {
      if (plan.hedgeMs !== undefined) signal.noteSent?.();
      const fate = fates.next(route, callLimits, time.logNow());
      return { events: this.answer(fate, callLimits, notes), droppedParams: () => [] };
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
    fate: VendorOutcome,
    limits: CallLimits,
    notes: { wasted: number },
  ): AsyncGenerator<CanonicalEvent> {
    const { clock } = this.options.time;
    this.calls[fate.source]++;
    const fail = (): never => {
      notes.wasted += fate.wasted;
      throw withoutStack(() => toUpstreamError(fate.failure!));
    };
    // What the log has ended within its limits.
    const isOver = fate.source !== 'log' && fate.firstMs + fate.restMs > limits.requestMs;
    if (isOver && fate.firstMs > limits.requestMs) {
      await clock.sleep(limits.requestMs);
      throw requestOver();
    }
    await clock.sleep(fate.firstMs);
    if (fate.failure && !fate.breaksOff) fail();
    yield { type: 'text', choice: 0, text: '.' };
    await clock.sleep(isOver ? limits.requestMs - fate.firstMs : fate.restMs);
    if (isOver) throw requestOver();
    if (fate.failure) fail();
    yield { type: 'finish', choice: 0, reason: 'stop' };
  }

  /** By the ledger's rules: what the log says was free is free, of what was left no more than the hold is paid. */
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
    // The log does not say how it was served: as it was asked for.
    const priced = asServed(route, usage);
    const whole = priceRoute(usage, priced);
    const isLeft = row.outcome === 'cancelled' || row.outcome === 'timeout';
    const charge = isLeft ? splitCharge(whole, held.hold.credits).charge : whole;
    const { cost } = this.ledger.settle(held, charge, route.maxCost);
    return { cost, vendorCost: vendorCostOf(usage, priced) };
  }

  /** What cannot be played again happens as it did, and costs what it did. */
  private async passOn(
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

/** To note where an error was made takes several times as long as to make it, and these are no faults. */
function withoutStack<Made>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** What calls took that another was faster than: as the log has it, else by what the service takes such a call to use. */
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
