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

/** Callers make up the names in families of models, and a heartbeat has to stay small. */
const MAX_ROUTES = 50;
const MAX_MODEL_LENGTH = 200;
/** How soon it is known that there are more instances, or fewer. */
const LOOK_EVERY_MS = 5_000;

/** Has each heartbeat tell operators what this process is doing. */
@Injectable()
export class LiveReport implements OnModuleInit, OnApplicationShutdown {
  private looking: NodeJS.Timeout | undefined;

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
    clearInterval(this.looking);
  }

  /** Each instance takes its part of an account's limits. One that cannot look keeps to what it knew. */
  private async shareLimits(): Promise<void> {
    if (!this.operatorPools.hasAny) return;
    try {
      const living = await this.instance.living();
      const gateways = living.filter(({ facts }) => facts.role === 'gateway').length;
      this.accountPools.share = 1 / Math.max(1, gateways);
    } catch {
      // The outage is told already.
    }
  }

  onModuleInit(): void {
    this.looking = setInterval(() => void this.shareLimits(), LOOK_EVERY_MS);
    this.looking.unref();
    this.instance.reportLive(() => ({
      requests_in_flight: this.inFlight.open,
      pending_settlements: this.ledger.pendingSettlements,
      recent: this.metrics.recent.read(),
      ...routesLeftAlone(this.routing.conditions()),
      failing: this.routing.failingRoutes().slice(0, MAX_ROUTES).map(toNames),
      hedging: this.hedges.latest,
    }));
  }
}

/** Pure: the routes that are not healthy, the worst and whole providers first. */
export function routesLeftAlone(
  conditions: readonly RouteCondition[],
): Pick<InstanceLive, 'routes' | 'more_routes'> {
  const alone = conditions.filter(({ state }) => state !== 'healthy');
  const rank = ({ state, upstreamModel }: RouteCondition): number =>
    2 * (ROUTE_STATES.length - ROUTE_STATES.indexOf(state)) + Number(upstreamModel !== undefined);
  const shown = alone.sort((one, other) => rank(one) - rank(other)).slice(0, MAX_ROUTES);
  return {
    routes: shown.map((route): InstanceRoute => ({ ...toNames(route), state: route.state })),
    more_routes: alone.length - shown.length,
  };
}

/** As `jsonb` takes them. */
function toNames({
  provider,
  account,
  upstreamModel,
}: Omit<RouteCondition, 'state'>): Omit<InstanceRoute, 'state'> {
  const model = upstreamModel?.slice(0, MAX_MODEL_LENGTH).toWellFormed().replaceAll('\u0000', '');
  return { provider, ...(account !== undefined && { account }), model: model ?? null };
}
