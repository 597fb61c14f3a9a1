import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { BillableRequest } from '../../canonical/billable-request.js';
import type { BillableRoute } from '../../canonical/billable-route.js';
import { FREE } from '../../canonical/exact-pricing.js';
import { limitedSubject, type Limits } from '../../canonical/limits.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { InProcessRateLimiter } from './rate-limiters.js';
import { RequestRates, type TakenRates } from './request-rates.js';

describe(RequestRates.name, () => {
  let rates: RequestRates;

  beforeEach(() => {
    jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12, 0, 20) });
    rates = new RequestRates(new InProcessRateLimiter());
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const take = (tokens: number, key: Limits | null, tenant: Limits | null = null) =>
    rates.take('t', requestOf(tokens, key, tenant)) as TakenRates | undefined;
  const faultOf = (ask: () => unknown) => {
    try {
      ask();
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it('does nothing when only other limits are set', () => {
    expect(take(5, { max_in_flight: 1 })).toBeUndefined();
  });

  it('counts requests per minute and names the limit and when to retry', () => {
    const limits = { requests_per_minute: 2 };
    take(1, limits);
    take(1, limits);
    expect(faultOf(() => take(1, limits))).toMatchObject({
      status: 429,
      param: 'api_key.requests_per_minute',
      retryAfterSeconds: 40,
      message: expect.stringContaining('2 requests per minute'),
    });
    jest.advanceTimersByTime(40_000);
    expect(take(1, limits)).toBeDefined();
  });

  it('counts against no subject when one has no room', () => {
    const [key, tenant] = [{ requests_per_minute: 2 }, { requests_per_minute: 1 }];
    take(1, null, tenant);
    for (let round = 0; round < 3; round++) {
      expect(faultOf(() => take(1, key, tenant))).toMatchObject({
        param: 'tenant.requests_per_minute',
      });
    }
    take(1, key);
    take(1, key);
    expect(faultOf(() => take(1, key))).toMatchObject({ param: 'api_key.requests_per_minute' });
  });

  it('reserves the upper bound of prompt tokens and replaces it by actual usage', () => {
    const limits = { tokens_per_minute: 100 };
    const first = take(60, limits);
    expect(faultOf(() => take(41, limits))).toMatchObject({ param: 'api_key.tokens_per_minute' });
    first!.settle(20);
    take(60, limits)!.settle(95);
    // 115 tokens are used, more than the limit, since usage is known only at the end.
    expect(faultOf(() => take(1, limits))).toMatchObject({
      message: expect.stringContaining('0 are left'),
    });
    expect(faultOf(() => take(101, limits))).toMatchObject({
      message: expect.stringContaining('alone counts as 101'),
    });
  });

  it('counts excess usage in the next minute but credits nothing back there', () => {
    const limits = { tokens_per_minute: 100 };
    const [long, short] = [take(10, limits), take(50, limits)];
    jest.advanceTimersByTime(40_000);
    short!.settle(1);
    long!.settle(90);
    expect(faultOf(() => take(21, limits))).toBeDefined();
    expect(take(20, limits)).toBeDefined();
  });

  it('credits a refused request back', () => {
    const limits = { requests_per_minute: 1, tokens_per_minute: 10 };
    for (let round = 0; round < 5; round++) take(10, limits)!.giveBack();
    expect(take(10, limits)).toBeDefined();
  });

  it('counts the tokens of requests that another process admitted', () => {
    const limits = { tokens_per_minute: 100 };
    rates.resume('t', requestOf(10, limits, null))!.settle(5);
    rates.resume('t', requestOf(10, limits, null))!.settle(110);
    expect(faultOf(() => take(1, limits))).toBeDefined();
  });
});

function requestOf(
  tokens: number,
  key: Limits | null,
  tenant: Limits | null,
): Pick<BillableRequest, 'limits' | 'routes'> {
  const route: BillableRoute = {
    model: 'a/b',
    provider: 'a',
    catalogueId: 'a/b',
    pricing: FREE,
    trafficMode: 'shared',
    ceiling: { ...NO_USAGE, inputTokens: tokens },
  };
  const subjects = [limitedSubject('api_key', 'k', [key]), limitedSubject('tenant', 't', [tenant])];
  return { limits: subjects.filter((each) => each !== undefined), routes: [route] };
}
