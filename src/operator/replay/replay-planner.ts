import { Canceller } from '../../canonical/cancel-signal.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { maxCostOf } from '../../core/ledger/max-cost.js';
import { HedgeShare } from '../../core/routing/hedge/hedge-share.js';
import { mayBeHedged } from '../../core/routing/hedge/hedge-option.js';
import { Plan } from '../../core/routing/plan.js';
import { AccountPools } from '../../core/routing/pool/account-pools.js';
import type { FallbackSinks } from '../../core/routing/route-fallback.js';
import { RouteHealth, type HealthKey } from '../../core/routing/route-health.js';
import { RouteTally } from '../../core/routing/route-tally.js';
import type { RoutingState } from '../../core/routing/routing-state.js';
import { selectRoutes } from '../../core/routing/select-routes.js';
import { ConversationPlaces } from '../../core/routing/stickiness/conversation-places.js';
import { StickyConversation } from '../../core/routing/stickiness/sticky-conversation.js';
import type { Faults } from './faults.js';
import { providerIn } from './learned-vendors.js';
import type { WindowRow } from './log-window.js';
import type { ReplayConfig } from './replay-config.js';
import type { ReplayTime } from './replay-time.js';
import type { ReplayedCaller, ReplayEnvironment } from './replay-environment.js';
import { draw } from './seeded-draw.js';

const NO_HEADERS = {};

interface PlannerOptions {
  readonly environment: ReplayEnvironment;
  readonly config: ReplayConfig;
  readonly time: ReplayTime;
  readonly faults?: Faults | undefined;
}

/** Plans logged requests with the service's planner and separate routing state. */
export class ReplayPlanner {
  readonly health: RouteHealth;
  readonly records: FallbackSinks;
  readonly hedges: HedgeShare;
  private readonly conversations: ConversationPlaces;
  private readonly state: RoutingState;

  constructor(private readonly options: PlannerOptions) {
    const { config, time, faults } = options;
    const { clock } = time;
    const health = new RouteHealth(config.limits.cooldownMs, clock);
    this.health = health;
    let drawn = 0;
    const pools = new AccountPools(health, clock, () => draw('account', drawn++));
    this.records = {
      ...{ health, pools, clock },
      metrics: { observeAttempt: () => undefined, observeHedge: () => undefined },
      tally: new RouteTally(),
      logger: { warn: () => undefined },
    };
    this.hedges = new HedgeShare(() => config.hedgePercent);
    this.conversations = new ConversationPlaces(() => clock.now());
    this.state = {
      isConfigured: (provider) => config.isConfigured(provider),
      // Vendors are assumed to honor tiers that have prices.
      vendorOf: () => ({ passesTier: () => true }),
      isCooling: (key) => health.isCooling(key),
      isPaused: (route) => faults?.isGone(route, time.logNow()) ?? false,
      wholeLatencyMs: (key) => health.wholeLatencyMs(key),
      speedOf: (key) => health.speedOf(key),
      isToBeMeasured: (key) => health.isToBeMeasured(key),
      limits: config.limits,
      byokFeePercent: config.byokFeePercent,
      byok: [],
      poolOf: (provider) => config.pools.of(provider),
      pools,
      preferredAccount: () => undefined,
      configVersion: null,
      overridden: config.catalogue.overridden,
      subjects: undefined,
      costLimit: undefined,
    };
  }

  /** @throws GatewayError when no route is available */
  plan(
    request: RoutableRequest,
    row: WindowRow,
    copy: number,
    subjects: ReplayedCaller['subjects'],
  ): Plan<RoutableRequest> {
    const { config, environment, time } = this.options;
    // Models that the configuration of the time lacks are left out of the chain.
    const models = request.models.flatMap((alias) => config.catalogue.find(alias) ?? []);
    const { version: configVersion, overridden } = config.catalogue;
    const conversation =
      row.requestOptions?.conversation === undefined
        ? undefined
        : StickyConversation.named(row.requestOptions.conversation, this.conversations);
    const asLogged = ([pooled]: readonly HealthKey[]): string | undefined =>
      row.attempts.find(({ route }) => providerIn(route) === pooled?.provider)?.account;
    const { preferredAccount } = conversation?.preference ?? { preferredAccount: asLogged };
    const { state } = this;
    // Reused, because it is read synchronously and copying it for each request would dominate the cost.
    state.limits = config.limits;
    state.byokFeePercent = config.byokFeePercent;
    state.subjects = subjects;
    state.configVersion = configVersion;
    state.overridden = overridden;
    state.preferredAccount = preferredAccount;
    state.byok = row.trafficMode === 'byok' ? config.accountsOf(row, environment) : [];
    state.costLimit = maxCostOf(request, NO_HEADERS);
    const selected = selectRoutes(request, models, state);
    const { hedgeMs } = request.routing;
    const isHedged = hedgeMs !== undefined && !this.hedges.isOff && mayBeHedged(request);
    const context = {
      requestId: copy === 0 ? row.requestId : `${row.requestId}/${copy}`,
      endpoint: row.endpoint,
      receivedAt: new Date(time.clock.now()),
      callerGone: new Canceller(),
    };
    const plan = new Plan(
      request,
      conversation ? conversation.lead(selected) : selected,
      context,
      undefined,
      subjects,
      undefined,
      isHedged ? hedgeMs : undefined,
    );
    plan.speeds = this.health;
    plan.conversation = conversation;
    return plan;
  }
}
