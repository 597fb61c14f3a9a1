import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InFlightLimiter } from '../../core/access/in-flight-limiter.js';
import {
  InstanceService,
  type InstanceLive,
  type InstanceRoute,
} from '../../core/ledger/instance.service.js';
import { LedgerStore } from '../../core/ledger/ledger-store.js';
import { HedgeShare } from '../../core/routing/hedge/hedge-share.js';
import { AccountPools } from '../../core/routing/pool/account-pools.js';
import { OperatorPools } from '../../core/routing/pool/operator-pools.js';
import { ROUTE_STATES, type RouteCondition } from '../../core/routing/route-health.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';

/** Callers choose names within model families, but a heartbeat must stay small. */
const MAX_ROUTES = 50;
const MAX_MODEL_LENGTH = 200;
/** How soon a changed number of instances is noticed. */
const CHECK_EVERY_MS = 5_000;

/** Adds this process's current activity to each heartbeat. */
@Injectable()
export class LiveReport implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly instance: InstanceService,
    private readonly inFlight: InFlightLimiter,
    private readonly ledger: LedgerStore,
    private readonly routing: RoutingService,
    private readonly operatorPools: OperatorPools,
    private readonly accountPools: AccountPools,
    private readonly hedges: HedgeShare,
    private readonly metrics: GatewayMetrics,
  ) {}

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Updates this instance's share of account limits. Keeps the last share during outages. */
  private async shareLimits(): Promise<void> {
    if (!this.operatorPools.hasAny) return;
    try {
      const living = await this.instance.living();
      const gateways = living.filter(({ facts }) => facts.role === 'gateway').length;
      this.accountPools.share = 1 / Math.max(1, gateways);
    } catch {
      // The database outage is already reported.
    }
  }

  onModuleInit(): void {
    this.timer = setInterval(() => void this.shareLimits(), CHECK_EVERY_MS);
    this.timer.unref();
    this.instance.reportLive(() => ({
      requests_in_flight: this.inFlight.open,
      pending_settlements: this.ledger.pendingSettlements,
      recent: this.metrics.recent.read(),
      ...unhealthyRoutes(this.routing.conditions()),
      failing: this.routing.failingRoutes().slice(0, MAX_ROUTES).map(toNames),
      hedging: this.hedges.latest,
    }));
  }
}

/** Returns the routes that are not healthy, the worst and whole providers first. Pure. */
export function unhealthyRoutes(
  conditions: readonly RouteCondition[],
): Pick<InstanceLive, 'routes' | 'more_routes'> {
  const unhealthy = conditions.filter(({ state }) => state !== 'healthy');
  const rank = ({ state, upstreamModel }: RouteCondition): number =>
    2 * (ROUTE_STATES.length - ROUTE_STATES.indexOf(state)) + Number(upstreamModel !== undefined);
  const shown = unhealthy.sort((one, other) => rank(one) - rank(other)).slice(0, MAX_ROUTES);
  return {
    routes: shown.map((route): InstanceRoute => ({ ...toNames(route), state: route.state })),
    more_routes: unhealthy.length - shown.length,
  };
}

/** Makes names valid for `jsonb`. */
function toNames({
  provider,
  account,
  upstreamModel,
}: Omit<RouteCondition, 'state'>): Omit<InstanceRoute, 'state'> {
  const model = upstreamModel?.slice(0, MAX_MODEL_LENGTH).toWellFormed().replaceAll('\u0000', '');
  return { provider, ...(account !== undefined && { account }), model: model ?? null };
}
