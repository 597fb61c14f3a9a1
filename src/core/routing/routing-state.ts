import type { LimitedSubject } from '../../canonical/limits.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { Upstream } from '../../vendors/upstream.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import type { RouteFigures } from './order-routes.js';
import type { CostLimit, LeftOutRoute, PlannedRoute } from './plan.js';
import type { AccountPools } from './pool/account-pools.js';
import type { PooledRoute, PoolMember } from './pool/pool-member.js';
import type { HealthKey } from './route-health.js';

/** Inputs of route selection besides the request. */
export interface RoutingState extends RouteFigures {
  isConfigured(provider: string): boolean;
  /** Returns the priced extras that a configured provider receives. */
  vendorOf(
    provider: string,
    account?: string,
  ): Pick<Upstream, 'passesVendorHeaders' | 'runsWebSearch' | 'passesTier' | 'region'>;
  isCooling(key: HealthKey): boolean;
  /** Returns whether the operator has paused the route, over any account. */
  isPaused(route: PlannedRoute): boolean;
  /** Returns the provider's accounts if there are several, else undefined. */
  poolOf?(provider: string): readonly PoolMember[] | undefined;
  /** Capacity of pooled accounts; set when requests are balanced. */
  pools?: Pick<AccountPools, 'order' | 'waitMs' | 'expectedTokens'>;
  /**
   * Returns the id of the account to use first while it is healthy, for example because it has the
   * prompt cached.
   */
  preferredAccount?(routes: readonly PooledRoute[]): string | undefined;
  limits: AppConfig['limits'];
  byokFeePercent: number;
  /** The caller's BYOK accounts; those of one provider in the order of attempts. */
  byok: readonly ByokAccess[];
  /** Configuration version of the prices; null before the first. */
  configVersion?: number | null;
  /** Ids of catalogue rows whose prices come from a file instead of the version. */
  overridden?: ReadonlySet<string>;
  /** True when a setting overrides the version's BYOK fee. */
  isFeeOverridden?: boolean;
  /** Owners of the provider lists that apply; undefined for none. */
  subjects?: readonly LimitedSubject[] | undefined;
  /** Limits routes by possible cost; undefined for no limit. */
  costLimit?: CostLimit | undefined;
  /** Collects excluded routes and reasons; undefined when not needed. */
  leftOut?: LeftOutRoute[] | undefined;
}
