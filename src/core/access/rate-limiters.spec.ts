import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Caller } from './caller.js';
import { InProcessRateLimiter } from './rate-limiters.js';

describe(InProcessRateLimiter.name, () => {
  let limiter: InProcessRateLimiter;

  beforeEach(() => {
    jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12, 0, 20, 500) });
    limiter = new InProcessRateLimiter();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('admits exactly as many requests as the limit', () => {
    const decisions = [1, 2, 3, 4].map(() => limiter.take(callerWith(3)));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(decisions.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
  });

  it('returns the end of the clock minute and rounds the wait up', () => {
    expect(limiter.take(callerWith(3))).toEqual({
      allowed: true,
      limit: 3,
      remaining: 2,
      resetAtSeconds: Date.UTC(2026, 0, 1, 12, 1) / 1000,
      retryAfterSeconds: 40,
    });
  });

  it('never returns a wait below one second', () => {
    jest.setSystemTime(Date.UTC(2026, 0, 1, 12, 0, 59, 999));
    expect(limiter.take(callerWith(3)).retryAfterSeconds).toBe(1);
  });

  it('resets at the next clock minute', () => {
    limiter.take(callerWith(1));
    expect(limiter.take(callerWith(1)).allowed).toBe(false);
    jest.setSystemTime(Date.UTC(2026, 0, 1, 12, 1));
    expect(limiter.take(callerWith(1))).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('counts each key separately', () => {
    limiter.take(callerWith(1, 'one'));
    expect(limiter.take(callerWith(1, 'other')).allowed).toBe(true);
  });

  it('counts nested keys against their root, and against lower limits of their own', () => {
    const root = { id: 'root', rateLimitPerMinute: 4 };
    const child = { ...callerWith(4, 'child'), countsOn: [root] };
    const lower = { id: 'lower', rateLimitPerMinute: 2 };
    const lowerChild = { ...callerWith(2, 'lower'), countsOn: [lower, root] };
    const takes = [lowerChild, lowerChild, lowerChild, child, callerWith(4, 'root'), child];
    const decisions = takes.map((caller) => limiter.take(caller));
    expect(decisions.map(({ allowed, limit, remaining }) => [allowed, limit, remaining])).toEqual([
      [true, 2, 1],
      [true, 2, 0],
      // A refusal by its own limit uses up none of the root's.
      [false, 2, 0],
      [true, 4, 1],
      [true, 4, 0],
      [false, 4, 0],
    ]);
  });

  it('drops counts of past minutes', () => {
    for (let key = 0; key < 100; key++) limiter.take(callerWith(1, String(key)));
    jest.setSystemTime(Date.UTC(2026, 0, 1, 12, 1));
    limiter.take(callerWith(1));
    expect((limiter as unknown as { counts: Map<string, number> }).counts.size).toBe(1);
  });
});

function callerWith(rateLimitPerMinute: number, apiKeyId = 'key'): Caller {
  const keyName = 'a key';
  return { tenantId: 'tenant', apiKeyId, keyType: 'routing', keyName, rateLimitPerMinute };
}
