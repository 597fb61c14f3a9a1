import { ROUTE_STATES, type RouteCondition } from '../route-health.js';
import type { AccountPools } from './account-pools.js';
import type { PoolMember } from './pool-member.js';

/** From healthy to bad. `limited`: the current minute has no room for another request. */
export const ACCOUNT_STATES = ['healthy', 'limited', ...ROUTE_STATES.slice(1)] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** State and load of a provider's account in this process. */
export interface AccountFigures {
  readonly id: string;
  readonly weight: number;
  /** The worst state of its models. */
  readonly state: AccountState;
  readonly inFlight: number;
  readonly requestsLastMinute: number;
  /** Includes the expected usage of requests in flight. */
  readonly tokensLastMinute: number;
  /** As configured, for all instances together. */
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
}

/**
 * @param conditions of all shared routes
 */
export function figuresOf(
  provider: string,
  { key, account = key, weight, requestsPerMinute, tokensPerMinute }: PoolMember,
  pools: Pick<AccountPools, 'loadFor' | 'now' | 'share'>,
  conditions: readonly RouteCondition[],
): AccountFigures {
  const load = pools.loadFor(key);
  const nowMs = pools.now();
  const requestsLastMinute = load?.requests.total(nowMs) ?? 0;
  const tokensLastMinute = load?.tokens.total(nowMs) ?? 0;
  const isFull =
    requestsLastMinute >= (requestsPerMinute ?? Infinity) * pools.share ||
    tokensLastMinute >= (tokensPerMinute ?? Infinity) * pools.share;
  const states = new Set<AccountState>(isFull ? ['limited'] : []);
  for (const condition of conditions) {
    if (condition.provider === provider && condition.account === account) {
      states.add(condition.state);
    }
  }
  return {
    id: account,
    weight,
    state: ACCOUNT_STATES.findLast((state) => states.has(state)) ?? 'healthy',
    inFlight: load?.open ?? 0,
    requestsLastMinute,
    tokensLastMinute,
    requestsPerMinute,
    tokensPerMinute,
  };
}
