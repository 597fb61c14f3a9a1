import { Canceller } from '../../canonical/cancel-signal.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { InProcessRateLimiter } from '../../core/access/rate-limiters.js';
import { NO_CHARGE } from '../../core/ledger/answer-charges.js';
import { capUsage } from '../../core/ledger/plausible-usage.js';
import { priceRoute, splitCharge } from '../../core/ledger/pricing.js';
import { vendorCostOf } from '../../core/ledger/vendor-cost.js';
import { findModel } from '../../core/routing/find-model.js';
import { OpenedAnswer } from '../../core/routing/opened-answer.js';
import { Plan, type PlannedRoute } from '../../core/routing/plan.js';
import { AccountPools } from '../../core/routing/pool/account-pools.js';
import { RouteFallback, type FallbackSinks } from '../../core/routing/route-fallback.js';
import { RouteHealth, type HealthKey } from '../../core/routing/route-health.js';
import { RouteTally } from '../../core/routing/route-tally.js';
import { selectRoutes, type RoutingState } from '../../core/routing/select-routes.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { Faults } from './faults.js';
import { providerIn, type LearnedVendors } from './learned-vendors.js';
import { isUsed, usageOf, type WindowRow } from './log-window.js';
import type { ReplayConfig } from './replay-config.js';
import {
  isPlayable,
  outcomeOf,
  refusalOf,
  refused,
  unknownCaller,
  type ReplayResult,
} from './replay-result.js';
import type { ReplayedCaller, ReplayWorld } from './replay-world.js';
import { requestOf } from './replayed-request.js';
import { draw } from './seeded-draw.js';
import { SimulatedLedger, type SimulatedHold } from './simulated-ledger.js';
import { VendorFates, type Fate, type FateSource } from './vendor-fates.js';
import type { VirtualClock } from './virtual-clock.js';

const IN_THE_LOG_TOO: ReadonlySet<string> = new Set(['failed', 'timeout']);

export interface ReplayOptions {
  readonly world: ReplayWorld;
  readonly vendors: LearnedVendors;
  readonly config: ReplayConfig;
  readonly clock: VirtualClock;
  readonly faults?: Faults;
  /** Whether keys' limits of requests a minute are looked at: all that is in the log was let in. */
  readonly limitsRates?: boolean;
  readonly onEnd: (result: ReplayResult) => void;
}

/**
 * Plays requests of the log again: the service's own planner chooses and walks the routes and its ledger's
 * functions set aside and charge, while vendors do what the log says that they did, or what was learned of them.
 */
export class Replay {
  /** Calls by who said what they came to. */
  readonly calls: Record<FateSource, number> = { fault: 0, log: 0, learned: 0, guessed: 0 };
  private readonly ledger: SimulatedLedger;
  private readonly limiter: InProcessRateLimiter;
  private readonly health: RouteHealth;
  private readonly records: FallbackSinks;
  private readonly state: RoutingState;
  /** Faults of this program, of which the first is worth to be told. */
  fault: unknown;

  constructor(private readonly options: ReplayOptions) {
    const { clock, config, world, faults } = options;
    this.ledger = new SimulatedLedger(world.purses, clock);
    this.limiter = new InProcessRateLimiter(clock);
    this.health = new RouteHealth(config.limits.cooldownMs, clock);
    const { health } = this;
    let drawn = 0;
    const pools = new AccountPools(health, clock, () => draw('account', drawn++));
    this.records = {
      ...{ health, pools },
      metrics: { observeAttempt: () => undefined, observeHedge: () => undefined },
      tally: new RouteTally(),
      logger: { warn: () => undefined },
      clock,
    };
    this.state = {
      isConfigured: (provider) => config.isConfigured(provider),
      vendorOf: () => ({}),
      isCooling: (key) => health.isCooling(key),
      isPaused: (route) => faults?.isGone(route, clock.now()) ?? false,
      wholeLatencyMs: (key) => health.wholeLatencyMs(key),
      speedOf: (key) => health.speedOf(key),
      isToBeMeasured: (key) => health.isToBeMeasured(key),
      limits: config.limits,
      byokFeePercent: config.byokFeePercent,
      byok: [],
      poolOf: (provider) => config.pools.of(provider),
      pools,
    };
    for (const { atMs, tenantId, credits } of world.movements) {
      clock.at(atMs, () => this.ledger.add(tenantId, credits));
    }
  }

  /** Has the request come in at a moment that the clock has not reached yet. */
  schedule(row: WindowRow, atMs: number, copy = 0): void {
    this.options.clock.at(atMs, () => {
      this.play(row, copy).then(this.options.onEnd, (error: unknown) => (this.fault ??= error));
    });
  }

  private async play(row: WindowRow, copy: number): Promise<ReplayResult> {
    const { world, clock, config, vendors, faults } = this.options;
    const { caller, subjects } = world.callers.get(row.apiKeyId) ?? unknownCaller(row);
    config.useVersionOf(row);
    const model = config.catalogue.find(row.model);
    if (!model || !isPlayable(row, world)) return this.passOn(row, copy, { caller, subjects });
    const arrivedMs = clock.now();
    const logged = usageOf(row);
    const usage = isUsed(logged) ? logged : (vendors.usualUsage(row.model) ?? logged);
    const request = requestOf(row, usage, model.kind);
    let held: SimulatedHold;
    let plan: Plan<RoutableRequest>;
    try {
      if (this.options.limitsRates && !this.limiter.take(caller).allowed) {
        return refused(row, copy, 'too_many', 'rate_limit_error');
      }
      plan = this.plan(request, row, copy, subjects);
      held = this.ledger.hold(caller, plan);
    } catch (error) {
      return refused(row, copy, ...refusalOf(error));
    }
    const fates = new VendorFates(row, vendors, faults);
    const notes = { wasted: row.besides ?? 0 };
    await clock.wait(plan.callerGone, row.attempts[0]?.started_ms ?? 0);
    const call = (route: PlannedRoute, limits: CallLimits) => ({
      events: this.answer(fates.next(route, limits, clock.now()), limits, notes),
      droppedParams: () => [],
    });
    const fallback = new RouteFallback<CanonicalEvent>(plan, held.hold, call, this.records);
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
      this.ledger.settle(held, NO_CHARGE);
      return { ...refused(row, copy, ...refusalOf(error)), vendorCost: notes.wasted };
    }
    const answered = route ?? plan.routes[0];
    const totalMs = clock.now() - arrivedMs;
    this.health.recordSpeed(answered, usage.outputTokens, totalMs - (firstMs ?? 0));
    plan.noteEnd(usage);
    const { cost, vendorCost } = this.charge(row, held, answered, usage);
    const failsToo = IN_THE_LOG_TOO.has(row.outcome) && row.attempts.at(-1)?.outcome === 'answered';
    return {
      ...{ row, copy, cost, firstMs, totalMs, provider: answered.provider, isPlayed: true },
      vendorCost: vendorCost + notes.wasted,
      outcome: failsToo ? 'failed' : 'answered',
      errorType: failsToo ? (row.errorType ?? undefined) : undefined,
    };
  }

  private plan(
    request: RoutableRequest,
    row: WindowRow,
    copy: number,
    subjects: ReplayedCaller['subjects'],
  ): Plan<RoutableRequest> {
    const { clock, config, world } = this.options;
    const models = request.models.map((alias) => findModel(config.catalogue, request, alias));
    const byok = row.trafficMode === 'byok' ? config.accountsOf(row, world) : [];
    const { version: configVersion, overridden } = config.catalogue;
    const preferredAccount = ([pooled]: readonly HealthKey[]): string | undefined =>
      row.attempts.find(({ route }) => providerIn(route) === pooled?.provider)?.account;
    const of = { byok, subjects, configVersion, overridden, preferredAccount };
    const state = { ...this.state, ...of };
    const routes = selectRoutes(request, models, state);
    const plan = new Plan(request, routes, {
      requestId: copy === 0 ? row.requestId : `${row.requestId}/${copy}`,
      endpoint: row.endpoint,
      receivedAt: new Date(clock.now()),
      callerGone: new Canceller(),
    });
    plan.speeds = this.health;
    return plan;
  }

  private async *answer(
    fate: Fate,
    limits: CallLimits,
    notes: { wasted: number },
  ): AsyncGenerator<CanonicalEvent> {
    const { clock } = this.options;
    const signal = new Canceller();
    this.calls[fate.source]++;
    const fail = (): never => {
      notes.wasted += fate.wasted;
      const { failure, status } = fate.failure!;
      throw new UpstreamError({
        failure,
        message: 'as in the log',
        ...(status !== undefined && { status }),
      });
    };
    // What the log has ended within its limits.
    const isOver = fate.source !== 'log' && fate.firstMs + fate.restMs > limits.requestMs;
    if (isOver && fate.firstMs > limits.requestMs) {
      await clock.wait(signal, limits.requestMs);
      throw requestOver();
    }
    await clock.wait(signal, fate.firstMs);
    if (fate.failure && !fate.breaksOff) fail();
    yield { type: 'text', choice: 0, text: '.' };
    await clock.wait(signal, isOver ? limits.requestMs - fate.firstMs : fate.restMs);
    if (isOver) throw requestOver();
    if (fate.failure) fail();
    yield { type: 'finish', choice: 0, reason: 'stop' };
  }

  /** By the ledger's rules: what the log says was free is free, of what was left no more than the hold is paid. */
  private charge(row: WindowRow, held: SimulatedHold, route: PlannedRoute, used: Usage) {
    const wasFree =
      row.usageSource === 'none' &&
      (row.outcome === 'cancelled' ||
        (row.outcome !== 'completed' && row.attempts.at(-1)?.outcome === 'answered'));
    if (wasFree) {
      this.ledger.settle(held, NO_CHARGE);
      return { cost: 0, vendorCost: row.vendorCost ?? 0 };
    }
    const { usage } = capUsage(used, 'upstream', route);
    const whole = priceRoute(usage, route);
    const isLeft = row.outcome === 'cancelled' || row.outcome === 'timeout';
    const charge = isLeft ? splitCharge(whole, held.hold.credits).charge : whole;
    const { cost } = this.ledger.settle(held, charge);
    return { cost, vendorCost: vendorCostOf(usage, route) };
  }

  /** What cannot be played again happens as it did, and costs what it did. */
  private async passOn(
    row: WindowRow,
    copy: number,
    { caller }: ReplayedCaller,
  ): Promise<ReplayResult> {
    await this.options.clock.wait(new Canceller(), row.latencyMs);
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

function requestOver(): UpstreamError {
  return new UpstreamError({
    failure: 'timeout',
    message: "the request's time is up",
    isRequestOver: true,
  });
}
