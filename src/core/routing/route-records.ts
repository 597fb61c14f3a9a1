import { Injectable, Logger } from '@nestjs/common';
import { SYSTEM_CLOCK } from '../../canonical/clock.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { AccountPools } from './pool/account-pools.js';
import { RouteHealth } from './route-health.js';
import type { FallbackSinks } from './route-fallback.js';
import { RouteTally } from './route-tally.js';

/** Holds the places where the outcome of each attempt is recorded. */
@Injectable()
export class RouteRecords implements FallbackSinks {
  readonly logger = new Logger('RoutingService');
  readonly clock = SYSTEM_CLOCK;

  constructor(
    readonly health: RouteHealth,
    readonly metrics: GatewayMetrics,
    readonly tally: RouteTally,
    readonly pools: AccountPools,
  ) {}
}
