import type { ExactPricing } from '../../../canonical/exact-pricing.js';
import type { ReadAllowance } from '../../../vendors/account-allowance.js';
import type { HealthKey } from '../route-health.js';

/** One of several accounts that share a provider's requests. */
export interface PoolMember {
  /** Unique in this process. */
  readonly key: string;
  /** Id of an operator's account; undefined for a tenant's own. */
  readonly account?: string;
  readonly weight: number;
  readonly readAllowance: ReadAllowance;
  /** Limit for all instances together; undefined for unlimited. */
  readonly requestsPerMinute?: number | undefined;
  /** Input and output tokens per minute; undefined for unlimited. */
  readonly tokensPerMinute?: number | undefined;
  /** Catalogue rows that it serves, by id or with a trailing `*`; undefined for all. */
  readonly models?: readonly string[] | undefined;
  /** Prices by catalogue row that replace the catalogue's. */
  readonly prices?: ReadonlyMap<string, ExactPricing> | undefined;
  /** True when the prices come from this instance's file rather than a configuration version. */
  readonly hasFilePrices?: boolean;
}

/** One request's demand on an account's limits. */
export interface PooledCall {
  readonly member: PoolMember;
  /** Input and estimated output. */
  readonly tokens: number;
}

/** A route over a pooled account. */
export interface PooledRoute extends HealthKey {
  readonly pooled: PooledCall;
}

export function isPooled<Route extends HealthKey & { pooled?: PooledCall }>(
  route: Route,
): route is Route & PooledRoute {
  return route.pooled !== undefined;
}

/** Returns the id that the account's owner uses. */
export function idOf({ account, key }: PoolMember): string {
  return account ?? key;
}

/** Returns whether the account serves a catalogue row. */
export function servesModel({ models }: Pick<PoolMember, 'models'>, catalogueId: string): boolean {
  if (!models) return true;
  return models.some((name) =>
    name.endsWith('*') ? catalogueId.startsWith(name.slice(0, -1)) : catalogueId === name,
  );
}
