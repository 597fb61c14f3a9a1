import type { LimitedSubject } from '../../canonical/limits.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { Upstream } from '../../vendors/upstream.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import type { RouteFigures } from './order-routes.js';
import type { CostLimit, LeftOutRoute, PlannedRoute } from './plan.js';
import type { AccountPools } from './pool/account-pools.js';
import type { PooledRoute, PoolMember } from './pool/pool-member.js';
import type { HealthKey } from './route-health.js';

/** What the choice of routes depends on besides the request. */
export interface RoutingState extends RouteFigures {
  isConfigured(provider: string): boolean;
  /** Of a configured provider: what goes out to it that may have a price of its own. */
  vendorOf(
    provider: string,
    account?: string,
  ): Pick<Upstream, 'passesVendorHeaders' | 'runsWebSearch' | 'passesTier' | 'region'>;
  isCooling(key: HealthKey): boolean;
  /** Whether the operator has paused the route, over whatever account. */
  isPaused(route: PlannedRoute): boolean;
  /** The accounts of a provider that has several; undefined: it has one. */
  poolOf?(provider: string): readonly PoolMember[] | undefined;
  /** What those can take, and a tenant's own accounts; there where anything is to be spread. */
  pools?: Pick<AccountPools, 'order' | 'waitMs' | 'expectedTokens'>;
  /** Id of the account that is to be first of a pool as long as it is well, e.g. as it has read the prompt before. */
  preferredAccount?(routes: readonly PooledRoute[]): string | undefined;
  limits: AppConfig['limits'];
  byokFeePercent: number;
  /** The caller's own accounts; of one provider in the order in which they are tried. */
  byok: readonly ByokAccess[];
  /** Of the configuration, whose prices these are; null before the first. */
  configVersion?: number | null;
  /** Ids of catalogue rows whose prices are a file's, and no version's. */
  overridden?: ReadonlySet<string>;
  /** The same of the fee for tenants' own accounts, which a variable may set. */
  isFeeOverridden?: boolean;
  /** Whose lists of providers are to be kept to; undefined: nobody's. */
  subjects?: readonly LimitedSubject[] | undefined;
  /** By what they may cost, which routes may be taken; undefined: all. */
  costLimit?: CostLimit | undefined;
  /** Is told which routes are left out, and why; undefined: nobody asks. */
  leftOut?: LeftOutRoute[] | undefined;
}
