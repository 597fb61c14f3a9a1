import type { IncomingHttpHeaders } from 'node:http';
import { SYSTEM_CLOCK, type Clock } from '../../../canonical/clock.js';
import { UpstreamError } from '../../../vendors/upstream-error.js';
import type { HealthKey, RouteHealth } from '../route-health.js';
import { AccountLoad } from './account-load.js';
import { idOf, type PooledRoute, type PoolMember } from './pool-member.js';

/** Accounts kept in mind; tenants have some too, of which the one that had nothing to do for longest is forgotten. */
const MAX_LOADS = 10_000;
/** Models at providers of which the length of answers is kept. */
const MAX_LENGTHS = 10_000;
/** What an answer is taken to be long, in tokens, before any was seen. */
const FIRST_GUESS_TOKENS = 500;
/** How much the latest answer moves what is expected of the next. */
const LENGTH_WEIGHT = 0.1;

/** Spreads the requests of a provider among its accounts, and knows what each of them can still take. */
export class AccountPools {
  /** Of each account's limits so much is this process's; other instances have the rest. */
  share = 1;
  private readonly loads = new Map<string, AccountLoad>();
  private readonly lengths = new Map<string, number>();

  /**
   * @param clock that `health` goes by
   * @param random from 0 to less than 1
   */
  constructor(
    private readonly health: Pick<RouteHealth, 'isCooling' | 'restMs' | 'rest'>,
    private readonly clock: Pick<Clock, 'monotonicMs'> = SYSTEM_CLOCK,
    private readonly random: () => number = Math.random,
  ) {}

  /**
   * The routes in the order in which they are to be tried: first one by weight, of two the less busy; the
   * others, the least busy first; and at last those that can take nothing now. Changes nothing.
   *
   * @param routes over the accounts of one pool
   * @param preferred id of the account, or of the tenant's credential, that is first as long as it can take the request
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

  /** Milliseconds for which an account takes no more: it is at its limit, or the vendor asked to wait; 0: it does. */
  waitMs(route: PooledRoute, nowMs = this.clock.monotonicMs()): number {
    const restMs = this.health.restMs(route, nowMs);
    const load = this.loads.get(route.pooled.member.key);
    return Math.max(restMs, load?.waitMs(route, this.share, nowMs) ?? 0);
  }

  /** A request is about to leave over a route. To be ended in any case. */
  begin(route: PooledRoute): AccountUse {
    return new AccountUse(route, this.loadOf(route.pooled.member), this, this.clock.monotonicMs());
  }

  /** How many output tokens an answer is taken to have. @param most of one that may be no longer */
  expectedTokens(key: HealthKey, most: number): number {
    const length = this.lengths.get(lengthKey(key)) ?? FIRST_GUESS_TOKENS;
    return Math.min(Math.ceil(length), most);
  }

  /** What an account has to do; undefined: nothing since the start. */
  loadFor(key: string): AccountLoad | undefined {
    return this.loads.get(key);
  }

  now(): number {
    return this.clock.monotonicMs();
  }

  /** An answer had so many output tokens. */
  learnLength(route: PooledRoute, tokens: number): void {
    const key = lengthKey(route);
    const before = this.lengths.get(key);
    if (before === undefined && this.lengths.size >= MAX_LENGTHS) this.lengths.clear();
    const change = before === undefined ? 0 : (tokens - before) * LENGTH_WEIGHT;
    this.lengths.set(key, (before ?? tokens) + change);
  }

  private isAble(route: PooledRoute, nowMs: number): boolean {
    return !this.health.isCooling(route, nowMs) && this.waitMs(route, nowMs) <= 0;
  }

  /** Two by weight; of those the one with less to do, and the first of two that have the same. */
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
    // Behind the others: the first one is the one that was used longest ago.
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

/** Answers over a tenant's account, whatever they are made to be, say nothing of those over others. */
function lengthKey({ provider, upstreamModel, byok }: HealthKey): string {
  return `${byok?.credential.id ?? provider}/${upstreamModel}`;
}

/** One request's part of its account's load, from its call to the end of its answer. */
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

  /** Reads what the head of a response says of the account. */
  heed(headers: IncomingHttpHeaders): void {
    const { upstreamModel, pooled } = this.route;
    const said = pooled.member.readAllowance(headers);
    if (said) this.load.heed(upstreamModel, said, this.pools.now());
  }

  /** There is no answer: what was set aside of the minute's tokens is free again. */
  fail(): void {
    this.end({ inputTokens: 0, outputTokens: 0 }, false);
  }

  /**
   * The answer is over, and has used so much. What it used is counted as of now, since nobody says when a vendor
   * counts it. Another end changes nothing.
   *
   * @param used undefined: nobody knows, and what was expected stands
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

/** Why an account is passed over before it is hit: others have used up its minute since it was planned. */
export function fullAccount(waitMs: number): UpstreamError | undefined {
  if (waitMs <= 0) return undefined;
  const message = 'the account is at its limit';
  return new UpstreamError({ failure: 'rate_limited', message, retryAfterMs: waitMs });
}
