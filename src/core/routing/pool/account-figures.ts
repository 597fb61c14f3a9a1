import { ROUTE_STATES, type RouteCondition } from '../route-health.js';
import type { AccountPools } from './account-pools.js';
import type { PoolMember } from './pool-member.js';

/** From well to bad. `limited`: this minute has no room for another request; the others as of routes. */
export const ACCOUNT_STATES = ['healthy', 'limited', ...ROUTE_STATES.slice(1)] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** How one account of a provider does, as far as this process knows. */
export interface AccountFigures {
  readonly id: string;
  readonly weight: number;
  /** The worst of its models. */
  readonly state: AccountState;
  readonly inFlight: number;
  readonly requestsLastMinute: number;
  /** What is expected of requests under way included. */
  readonly tokensLastMinute: number;
  /** As configured, of all instances together. */
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
}

/** @param conditions of all shared routes */
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
