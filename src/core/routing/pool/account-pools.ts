import type { IncomingHttpHeaders } from 'node:http';
import { SYSTEM_CLOCK, type Clock } from '../../../canonical/clock.js';
import { boundedCache } from '../../../platform/memory/bounded-cache.js';
import { UpstreamError } from '../../../vendors/upstream-error.js';
import type { HealthKey, RouteHealth } from '../route-health.js';
import { AccountLoad } from './account-load.js';
import { idOf, type PooledRoute, type PoolMember } from './pool-member.js';

/** Accounts to remember, including tenants'; beyond that the longest idle one is forgotten. */
const MAX_LOADS = 10_000;
/** Models per provider whose answer lengths are remembered. */
const MAX_LENGTHS = 10_000;
/** Expected output tokens before any answer was seen. */
const FIRST_GUESS_TOKENS = 500;
/** Weight of the latest answer in the moving average. */
const LENGTH_WEIGHT = 0.1;

/** Balances the requests of a provider over its accounts, within each account's limits. */
export class AccountPools {
  /** This process's share of each account's limits. */
  share = 1;
  private readonly loads = new Map<string, AccountLoad>();
  private readonly lengths = boundedCache<string, number>(MAX_LENGTHS);

  /**
   * @param clock shared with `health`
   * @param random returns numbers from 0 to less than 1
   */
  constructor(
    private readonly health: Pick<RouteHealth, 'isCooling' | 'restMs' | 'rest'>,
    private readonly clock: Pick<Clock, 'monotonicMs'> = SYSTEM_CLOCK,
    private readonly random: () => number = Math.random,
  ) {}

  /**
   * Sorts the routes in order of preference: of two chosen by weight the less busy one, then the
   * others by load, then the accounts that can take nothing now. Changes no state.
   *
   * @param routes over the accounts of one pool
   * @param preferred id of the account or tenant credential that goes first while it can take the
   * request
   */
  order<Route extends PooledRoute>(routes: readonly Route[], preferred?: string): Route[] {
    if (routes.length < 2) return [...routes];
    const nowMs = this.clock.monotonicMs();
    const able = routes.filter((route) => this.isAble(route, nowMs));
    const wanted =
      able.find(({ pooled }) => idOf(pooled.member) === preferred) ?? this.pick(able, nowMs);
    if (wanted === undefined) return [...routes];
    const others = able.filter((route) => route !== wanted);
    const pressures = new Map(others.map((route) => [route, this.pressureOf(route, nowMs)]));
    others.sort((one, other) => (pressures.get(one) ?? 0) - (pressures.get(other) ?? 0));
    return [wanted, ...others, ...routes.filter((route) => !able.includes(route))];
  }

  /**
   * Returns the ms until the account takes requests again, after its limit or a cooldown; 0 means
   * now.
   */
  waitMs(route: PooledRoute, nowMs = this.clock.monotonicMs()): number {
    const restMs = this.health.restMs(route, nowMs);
    const load = this.loads.get(route.pooled.member.key);
    return Math.max(restMs, load?.waitMs(route, this.share, nowMs) ?? 0);
  }

  /** Records a request about to be sent. Callers must end the returned use. */
  begin(route: PooledRoute): AccountUse {
    return new AccountUse(route, this.loadOf(route.pooled.member), this, this.clock.monotonicMs());
  }

  /**
   * Estimates the output tokens of an answer.
   *
   * @param most the request's limit
   */
  expectedTokens(key: HealthKey, most: number): number {
    const length = this.lengths.get(lengthKey(key)) ?? FIRST_GUESS_TOKENS;
    return Math.min(Math.ceil(length), most);
  }

  /** Returns an account's load; undefined if unused since the start. */
  loadFor(key: string): AccountLoad | undefined {
    return this.loads.get(key);
  }

  now(): number {
    return this.clock.monotonicMs();
  }

  /** Records the output tokens of an answer. */
  learnLength(route: PooledRoute, tokens: number): void {
    const key = lengthKey(route);
    const before = this.lengths.get(key);
    const change = before === undefined ? 0 : (tokens - before) * LENGTH_WEIGHT;
    this.lengths.set(key, (before ?? tokens) + change);
  }

  private isAble(route: PooledRoute, nowMs: number): boolean {
    return !this.health.isCooling(route, nowMs) && this.waitMs(route, nowMs) <= 0;
  }

  /** Draws two routes by weight and returns the less busy one, the first when equal. */
  private pick<Route extends PooledRoute>(
    routes: readonly Route[],
    nowMs: number,
  ): Route | undefined {
    const first = this.draw(routes);
    if (first === undefined || routes.length === 1) return first;
    const second = this.draw(routes.filter((route) => route !== first))!;
    return this.pressureOf(second, nowMs) < this.pressureOf(first, nowMs) ? second : first;
  }

  private draw<Route extends PooledRoute>(routes: readonly Route[]): Route | undefined {
    const sum = routes.reduce((weights, { pooled }) => weights + pooled.member.weight, 0);
    let rest = this.random() * sum;
    for (const route of routes) {
      rest -= route.pooled.member.weight;
      if (rest < 0) return route;
    }
    return routes.at(-1);
  }

  private pressureOf({ pooled: { member } }: PooledRoute, nowMs: number): number {
    return this.loads.get(member.key)?.pressure(member, this.share, nowMs) ?? 0;
  }

  private loadOf({ key }: PoolMember): AccountLoad {
    let load = this.loads.get(key);
    if (!load) {
      if (this.loads.size >= MAX_LOADS) this.forgetIdle();
      load = new AccountLoad();
    } else this.loads.delete(key);
    // Moves to the end; the first entry is the least recently used.
    this.loads.set(key, load);
    return load;
  }

  private forgetIdle(): void {
    for (const [key, { open }] of this.loads) {
      if (open > 0) continue;
      this.loads.delete(key);
      return;
    }
  }
}

/** Answers over a tenant's account must not influence estimates for others. */
function lengthKey({ provider, upstreamModel, byok }: HealthKey): string {
  return `${byok?.credential.id ?? provider}/${upstreamModel}`;
}

/** One request's share of its account's load, from its call to the end of the answer. */
export class AccountUse {
  private isOver = false;

  constructor(
    private readonly route: PooledRoute,
    private readonly load: AccountLoad,
    private readonly pools: AccountPools,
    private readonly startedMs: number,
  ) {
    load.begin(route, startedMs);
  }

  /** Reads the rate-limit headers of a response. */
  heed(headers: IncomingHttpHeaders): void {
    const { upstreamModel, pooled } = this.route;
    const allowance = pooled.member.readAllowance(headers);
    if (allowance) this.load.adopt(upstreamModel, allowance, this.pools.now());
  }

  /** Ends without an answer and frees the reserved tokens. */
  fail(): void {
    this.end({ inputTokens: 0, outputTokens: 0 }, false);
  }

  /**
   * Ends with the answer's usage, counted as of now, because vendors do not say when they count.
   * Later calls have no effect.
   *
   * @param used undefined when unknown; the estimate stays
   */
  end(used?: { inputTokens: number; outputTokens: number }, isAnswer = true): void {
    if (this.isOver) return;
    this.isOver = true;
    const { load, route, startedMs } = this;
    load.open--;
    if (!used) return;
    const nowMs = this.pools.now();
    load.tokens.add(-route.pooled.tokens, startedMs, nowMs);
    load.tokens.add(used.inputTokens + used.outputTokens, nowMs);
    if (isAnswer) this.pools.learnLength(route, used.outputTokens);
  }
}

/** Returns the error for an account whose minute was used up after planning. */
export function fullAccount(waitMs: number): UpstreamError | undefined {
  if (waitMs <= 0) return undefined;
  const message = 'the account is at its limit';
  return new UpstreamError({ failure: 'rate_limited', message, retryAfterMs: waitMs });
}
