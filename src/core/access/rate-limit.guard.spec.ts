import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { of } from 'rxjs';
import { decideRateLimit } from './rate-limit-decisions.js';
import { InProcessRateLimiter, type RateLimiter } from './rate-limiters.js';
import type { GatewayRequest } from './gateway-request.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { ContentionWindow } from '../../platform/queue/contention-window.js';
import { FairStarts } from './fair-starts.js';
import { InFlightLimiter } from './in-flight-limiter.js';
import { RateLimitGuard, RateLimitInterceptor } from './rate-limit.guard.js';
const NOW_MS = Date.UTC(2026, 0, 1, 12, 0, 20);
const caller = {
  tenantId: 'tenant',
  apiKeyId: 'key',
  keyType: 'routing',
  rateLimitPerMinute: 1,
} as const;

describe(RateLimitGuard.name, () => {
  it('attaches its decision to the request for the headers', () => {
    const request = { caller } as unknown as GatewayRequest;
    expect(guard(1).canActivate(contextOf(request))).toBe(true);
    expect(request.rateLimit).toMatchObject({ limit: 1, remaining: 0 });
  });

  it('returns 429 with the seconds to wait and still attaches the decision', () => {
    const request = { caller } as unknown as GatewayRequest;
    expect(() => guard(2).canActivate(contextOf(request))).toThrow(
      expect.objectContaining({
        status: 429,
        type: 'rate_limit_error',
        param: 'rate_limit_per_minute',
        retryAfterSeconds: 40,
      }),
    );
    expect(request.rateLimit).toMatchObject({ allowed: false });
  });

  it('waits for an asynchronous limiter', async () => {
    const request = { caller } as unknown as GatewayRequest;
    await expect(guard(1, { late: true }).canActivate(contextOf(request))).resolves.toBe(true);
    await expect(guard(2, { late: true }).canActivate(contextOf(request))).rejects.toMatchObject({
      status: 429,
    });
  });

  it('counts a call only when fair scheduling starts it', async () => {
    const starts = new FairStarts(new ContentionWindow());
    for (let index = 0; index < 5; index++)
      void starts.waitForTurn(`tenant ${index % 2}`, responseOf());
    for (let index = 0; index < 4; index++) void starts.waitForTurn('tenant', responseOf());
    const request = { caller } as unknown as GatewayRequest;
    const admitted = guard(1, {}, starts).canActivate(contextOf(request));
    expect(request.rateLimit).toBeUndefined();
    await expect(admitted).resolves.toBe(true);
    expect(request.rateLimit).toMatchObject({ allowed: true });
  });
});

describe(RateLimitInterceptor.name, () => {
  it('sets the headers before the handler runs', () => {
    const headers: Record<string, string> = {};
    const request = { rateLimit: decideRateLimit(10, 4, NOW_MS) } as GatewayRequest;
    let seenByHandler: Record<string, string> = {};
    const next: CallHandler = {
      handle() {
        seenByHandler = { ...headers };
        return of(undefined);
      },
    };
    new RateLimitInterceptor().intercept(contextOf(request, headers), next);
    expect(seenByHandler).toEqual({
      'X-RateLimit-Limit': '10',
      'X-RateLimit-Remaining': '6',
      'X-RateLimit-Reset': String(Date.UTC(2026, 0, 1, 12, 1) / 1000),
    });
  });
});

/** Makes a guard whose limiter has counted `count` requests. */
function guard(
  count: number,
  options?: { late?: boolean },
  starts = new FairStarts(new ContentionWindow()),
): RateLimitGuard {
  const limiter: RateLimiter = new InProcessRateLimiter();
  const decision = decideRateLimit(1, count, NOW_MS);
  limiter.take = () => (options?.late ? Promise.resolve(decision) : decision);
  return new RateLimitGuard(limiter, new InFlightLimiter(loadConfig({}, [])), starts);
}

function contextOf(
  request: GatewayRequest,
  headers: Record<string, string> = {},
): ExecutionContext {
  const response = Object.assign(responseOf(), {
    setHeader: (name: string, value: string) => (headers[name] = value),
  });
  return {
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
  } as unknown as ExecutionContext;
}

function responseOf() {
  return Object.assign(new EventEmitter(), { destroyed: false });
}
