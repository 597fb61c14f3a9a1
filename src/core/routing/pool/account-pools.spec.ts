import { describe, expect, it } from '@jest/globals';
import { readAllowance } from '../../../vendors/account-allowance.js';
import { UpstreamError } from '../../../vendors/upstream-error.js';
import { RouteHealth } from '../route-health.js';
import { AccountPools } from './account-pools.js';
import type { PooledRoute, PoolMember } from './pool-member.js';

/** Deterministic random numbers. */
function seeded(): () => number {
  let state = 42;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

class World {
  nowMs = 0;
  readonly health = new RouteHealth(10_000);
  readonly pools = new AccountPools(this.health, { monotonicMs: () => this.nowMs }, seeded());
  readonly routes: PooledRoute[];

  constructor(accounts: Record<string, Partial<PoolMember>>, tokens = 100) {
    this.routes = Object.entries(accounts).map(([account, fields]) => ({
      provider: 'p',
      account,
      upstreamModel: 'm',
      pooled: {
        member: { key: `p@${account}`, account, weight: 1, readAllowance, ...fields },
        tokens,
      },
    }));
  }

  /** Returns the next request's account; undefined when none takes it. */
  take() {
    const [first] = this.pools.order(this.routes);
    if (!first || this.pools.waitMs(first) > 0) return undefined;
    return { account: first.account, use: this.pools.begin(first) };
  }

  /** Counts sequential requests per account. */
  spread(requests: number): Record<string, number> {
    const counts: Record<string, number> = {};
    for (let count = 0; count < requests; count++) {
      const taken = this.take();
      taken?.use.end();
      const name = taken?.account ?? 'none';
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  waits(): number[] {
    return this.routes.map((route) => this.pools.waitMs(route));
  }
}

describe(AccountPools.name, () => {
  it('distributes requests by weight', () => {
    const {
      a = 0,
      b = 0,
      c = 0,
    } = new World({
      a: { weight: 1 },
      b: { weight: 2 },
      c: { weight: 7 },
    }).spread(10_000);
    expect(a + b + c).toBe(10_000);
    expect(Math.abs(a - 1_000)).toBeLessThan(200);
    expect(Math.abs(b - 2_000)).toBeLessThan(200);
    expect(Math.abs(c - 7_000)).toBeLessThan(200);
  });

  it('distributes requests in flight by weight', () => {
    const world = new World({ slow: { weight: 1 }, fast: { weight: 1 } });
    const open = Array.from({ length: 50 }, () => world.take());
    // One account finishes nothing, so the other gets every new request.
    for (const taken of open) if (taken?.account === 'fast') taken.use.end();
    const { slow = 0, fast = 0 } = world.spread(100);
    expect(slow).toBe(0);
    expect(fast).toBe(100);
  });

  it('keeps three accounts at their limits until the sum is spent, and returns the time to wait', () => {
    const world = new World({
      a: { requestsPerMinute: 10 },
      b: { requestsPerMinute: 20 },
      c: { requestsPerMinute: 70 },
    });
    const counts: Record<string, number> = {};
    for (let count = 0; count < 120; count++) {
      world.nowMs += 250;
      const name = world.take()?.account ?? 'none';
      counts[name] = (counts[name] ?? 0) + 1;
    }
    expect(counts).toEqual({ a: 10, b: 20, c: 70, none: 20 });
    const waitMs = Math.min(...world.waits());
    // The first request came at 250 ms, and its minute ends within that second.
    expect(world.nowMs + waitMs).toBe(61_000);
    world.nowMs += waitMs;
    expect(world.take()).toBeDefined();
  });

  it('never exceeds an account’s limit in any minute', () => {
    const world = new World({ a: { requestsPerMinute: 10 }, b: { requestsPerMinute: 25 } });
    const times: Record<string, number[]> = { a: [], b: [] };
    for (; world.nowMs < 300_000; world.nowMs += 130) {
      const taken = world.take();
      taken?.use.end();
      if (taken?.account) times[taken.account]!.push(world.nowMs);
    }
    const most = (list: number[]): number =>
      Math.max(...list.map((from) => list.filter((at) => at >= from && at < from + 60_000).length));
    expect(most(times.a!)).toBe(10);
    expect(most(times.b!)).toBe(25);
    // … and the limits are used up.
    expect(times.a!.length).toBeGreaterThan(40);
  });

  it('counts tokens before they are used, and corrects them afterwards', () => {
    const world = new World({ a: { tokensPerMinute: 1_000 }, b: { tokensPerMinute: 2_000 } }, 300);
    const taken = Array.from({ length: 9 }, () => world.take());
    expect(taken.map((each) => each?.account).sort()).toEqual([
      ...['a', 'a', 'a'],
      ...['b', 'b', 'b', 'b', 'b', 'b'],
    ]);
    expect(world.take()).toBeUndefined();
    const [used, failed] = taken.filter((each) => each?.account === 'a');
    // It used a third of the estimate, which makes room for one more request.
    used?.use.end({ inputTokens: 60, outputTokens: 40 });
    used?.use.end({ inputTokens: 60, outputTokens: 40 });
    expect(world.take()?.account).toBe('a');
    expect(world.take()).toBeUndefined();
    // A failed request frees its tokens.
    failed?.use.fail();
    expect(world.take()?.account).toBe('a');
    expect(world.take()).toBeUndefined();
  });

  it('estimates the length of answers from earlier ones, up to the request’s limit', () => {
    const world = new World({ a: {} });
    expect(world.pools.expectedTokens({ provider: 'p', upstreamModel: 'm' }, 10_000)).toBe(500);
    world.take()?.use.end({ inputTokens: 1, outputTokens: 2_000 });
    expect(world.pools.expectedTokens({ provider: 'p', upstreamModel: 'm' }, 10_000)).toBe(2_000);
    world.take()?.use.end({ inputTokens: 1, outputTokens: 1_000 });
    expect(world.pools.expectedTokens({ provider: 'p', upstreamModel: 'm' }, 10_000)).toBe(1_900);
    expect(world.pools.expectedTokens({ provider: 'p', upstreamModel: 'm' }, 64)).toBe(64);
    expect(world.pools.expectedTokens({ provider: 'p', upstreamModel: 'other' }, 10_000)).toBe(500);
  });

  it('respects the vendor’s reported remainder until it resets', () => {
    const world = new World({ a: { weight: 100 }, b: {} });
    const [a] = world.routes;
    world.pools.begin(a!).heed({
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '20s',
    });
    expect(world.spread(20)).toEqual({ b: 20 });
    world.nowMs = 19_999;
    expect(world.waits()).toEqual([1, 0]);
    world.nowMs = 20_000;
    expect(world.waits()).toEqual([0, 0]);
    // Too few tokens for this request may be enough for a smaller one.
    world.pools.begin(a!).heed({
      'x-ratelimit-remaining-tokens': '99',
      'x-ratelimit-reset-tokens': '30s',
    });
    expect(world.waits()).toEqual([30_000, 0]);
    const small = { ...a!, pooled: { ...a!.pooled, tokens: 50 } };
    expect(world.pools.waitMs(small)).toBe(0);
    // Requests sent meanwhile are deducted.
    world.pools.begin(small);
    expect(world.pools.waitMs(small)).toBeGreaterThan(0);
    // With a known limit, it refills steadily.
    world.pools.begin(a!).heed({
      'x-ratelimit-limit-tokens': '1090',
      'x-ratelimit-remaining-tokens': '90',
      'x-ratelimit-reset-tokens': '60s',
    });
    expect(world.waits()).toEqual([600, 0]);
    // Another model of the account has its own limits.
    expect(world.pools.waitMs({ ...a!, upstreamModel: 'other' })).toBe(0);
  });

  it('cools down a rate-limited account, and pauses a rejected one', () => {
    const world = new World({ a: {}, b: {}, c: {} });
    const [a, b, c] = world.routes;
    const fail = (
      route: PooledRoute,
      failure: 'rate_limited' | 'operator',
      fields: { status?: number; retryAfterMs?: number },
    ) =>
      world.health.recordFailure(
        route,
        new UpstreamError({ failure, message: 'x', ...fields }),
        0,
        world.nowMs,
      );
    // Longer than the pause of a failing route.
    fail(a!, 'rate_limited', { status: 429, retryAfterMs: 25_000 });
    fail(b!, 'operator', { status: 401 });
    expect(world.spread(20)).toEqual({ c: 20 });
    expect(world.waits()).toEqual([25_000, 0, 0]);
    // A rejected key affects all models; a rate limit affects one.
    expect(world.health.isCooling({ ...a!, upstreamModel: 'other' }, 0)).toBe(false);
    expect(world.health.isCooling({ ...b!, upstreamModel: 'other' }, 0)).toBe(true);
    fail(c!, 'operator', { status: 403 });
    expect(world.health.isCooling(c!, 0)).toBe(true);
    expect(world.health.isCooling({ ...c!, upstreamModel: 'other' }, 0)).toBe(false);
    world.nowMs = 10_000;
    expect(Object.keys(world.spread(20)).sort()).toEqual(['b', 'c']);
    world.nowMs = 25_000;
    expect(Object.keys(world.spread(50)).sort()).toEqual(['a', 'b', 'c']);
    // Without a time, the cooldown is short.
    fail(a!, 'rate_limited', { status: 429 });
    expect(world.waits()[0]).toBe(5_000);
  });

  it('puts the preferred account first while it can take the request', () => {
    const world = new World({ a: { requestsPerMinute: 1 }, b: {}, c: {} });
    const first = () => world.pools.order(world.routes, 'a')[0];
    expect([first()?.account, first()?.account]).toEqual(['a', 'a']);
    world.pools.begin(world.routes[0]!);
    expect(first()?.account).not.toBe('a');
    expect(world.pools.order(world.routes, 'nobody')).toHaveLength(3);
    expect(world.pools.order(world.routes, 'b').at(-1)?.account).toBe('a');
  });

  it('takes only its share of the limits next to other instances', () => {
    const world = new World({ a: { requestsPerMinute: 10, tokensPerMinute: 100_000 } });
    world.pools.share = 1 / 3;
    expect(world.spread(5)).toEqual({ a: 3, none: 2 });
    world.pools.share = 1;
    expect(world.spread(10)).toEqual({ a: 7, none: 3 });
  });

  it('forgets the longest idle account when tenants have too many', () => {
    const { pools } = new World({});
    const routeOf = (key: string): PooledRoute => ({
      provider: 'p',
      upstreamModel: 'm',
      pooled: { member: { key, weight: 1, readAllowance }, tokens: 1 },
    });
    for (const key of ['busy', 'idle']) pools.begin(routeOf(key)).end();
    for (let count = 2; count < 10_000; count++) pools.begin(routeOf(`${count}`)).end();
    pools.begin(routeOf('busy')).end();
    pools.begin(routeOf('one more')).end();
    expect([pools.loadFor('busy'), pools.loadFor('idle')]).toEqual([expect.anything(), undefined]);
  });
});
