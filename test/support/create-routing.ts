import type { EndUserLimits } from '../../src/core/access/end-user-limits.service.js';
import type { CatalogueService } from '../../src/core/catalogue/catalogue.service.js';
import type { ByokUpstreams } from '../../src/core/credentials/byok-upstreams.service.js';
import type { AnswerCache } from '../../src/core/routing/cache/answer-cache.service.js';
import { HedgeShare } from '../../src/core/routing/hedge/hedge-share.js';
import { AccountPools } from '../../src/core/routing/pool/account-pools.js';
import { OperatorPools } from '../../src/core/routing/pool/operator-pools.js';
import { RouteHealth } from '../../src/core/routing/route-health.js';
import type { RoutePauses } from '../../src/core/routing/route-pauses.service.js';
import { RoutePlanner } from '../../src/core/routing/route-planner.js';
import { RouteRecords } from '../../src/core/routing/route-records.js';
import { RouteTally } from '../../src/core/routing/route-tally.js';
import { RouteUpstreams } from '../../src/core/routing/route-upstreams.js';
import { RoutingService } from '../../src/core/routing/routing.service.js';
import { SingleAttempts } from '../../src/core/routing/single-attempts.js';
import { ConversationPlaces } from '../../src/core/routing/stickiness/conversation-places.js';
import type { AppConfig } from '../../src/platform/config/app-config.js';
import type { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import type { UpstreamRegistry } from '../../src/vendors/upstream.registry.js';

/** Replaceable collaborators of a routing service under test; the others are real. */
interface RoutingParts {
  readonly config: AppConfig;
  readonly catalogue: CatalogueService;
  readonly upstreams: UpstreamRegistry;
  readonly metrics: GatewayMetrics;
  readonly byokUpstreams: ByokUpstreams;
}

/** A routing service and the collaborators that tests inspect. */
interface CreatedRouting {
  readonly service: RoutingService;
  readonly pools: AccountPools;
  readonly conversations: ConversationPlaces;
}

/** Returns a routing service without a cache, paused routes or end-user limits. */
export function createRouting(parts: RoutingParts): CreatedRouting {
  const { config, catalogue, upstreams, metrics, byokUpstreams } = parts;
  const cache = {} as AnswerCache;
  const pauses = { of: () => undefined } as unknown as RoutePauses;
  const endUserLimits = { subjectsOf: () => undefined } as unknown as EndUserLimits;
  const health = new RouteHealth(config.limits.cooldownMs);
  const pools = new AccountPools(health);
  const operatorPools = new OperatorPools(upstreams, catalogue, config);
  const hedges = new HedgeShare(() => config.hedgePercent);
  const records = new RouteRecords(health, metrics, new RouteTally(), pools);
  const routeUpstreams = new RouteUpstreams(upstreams, byokUpstreams);
  const conversations = new ConversationPlaces();
  const planner = new RoutePlanner(
    config,
    catalogue,
    upstreams,
    byokUpstreams,
    cache,
    pauses,
    endUserLimits,
    health,
    pools,
    operatorPools,
    hedges,
    conversations,
  );
  const singles = new SingleAttempts(pauses, operatorPools, records, routeUpstreams);
  const service = new RoutingService(
    planner,
    singles,
    records,
    hedges,
    routeUpstreams,
    operatorPools,
    cache,
  );
  return { service, pools, conversations };
}
