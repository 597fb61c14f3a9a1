import type { ExactPricing } from '../../../canonical/exact-pricing.js';
import type { ReadAllowance } from '../../../vendors/account-allowance.js';
import type { HealthKey } from '../route-health.js';

/** One of several accounts among which the requests of one provider are spread. */
export interface PoolMember {
  /** Unique among all of this process. */
  readonly key: string;
  /** The account's id, of the operator's accounts; undefined: it is a tenant's own. */
  readonly account?: string;
  readonly weight: number;
  readonly readAllowance: ReadAllowance;
  /** Of all instances together; undefined: as much as comes. */
  readonly requestsPerMinute?: number | undefined;
  /** The same of tokens, input and output together. */
  readonly tokensPerMinute?: number | undefined;
  /** Catalogue rows that it serves, by id or with a `*` at the end; undefined: all. */
  readonly models?: readonly string[] | undefined;
  /** By catalogue rows, in place of theirs. */
  readonly prices?: ReadonlyMap<string, ExactPricing> | undefined;
  /** Whether those are a file's of this instance, and no version's of the configuration. */
  readonly hasFilePrices?: boolean;
}

/** What one request asks of an account, as far as limits count it. */
export interface PooledCall {
  readonly member: PoolMember;
  /** Of input and, as far as can be told, of output. */
  readonly tokens: number;
}

/** A route over one account of a pool. */
export interface PooledRoute extends HealthKey {
  readonly pooled: PooledCall;
}

export function isPooled<Route extends HealthKey & { pooled?: PooledCall }>(
  route: Route,
): route is Route & PooledRoute {
  return route.pooled !== undefined;
}

/** How its owner calls it. */
export function idOf({ account, key }: PoolMember): string {
  return account ?? key;
}

/** Whether an account is for a row of the catalogue. */
export function servesModel({ models }: Pick<PoolMember, 'models'>, catalogueId: string): boolean {
  if (!models) return true;
  return models.some((name) =>
    name.endsWith('*') ? catalogueId.startsWith(name.slice(0, -1)) : catalogueId === name,
  );
}
