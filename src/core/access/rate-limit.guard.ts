import type { Response } from 'express';
import {
  CanActivate,
  ExecutionContext,
  Injectable,
  CallHandler,
  NestInterceptor,
} from '@nestjs/common';
import { InternalError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import type { Caller } from './caller.js';
import { FairStarts } from './fair-starts.js';
import type { GatewayRequest } from './gateway-request.js';
import { InFlightLimiter } from './in-flight-limiter.js';
import type { RateLimitDecision } from './rate-limit-decisions.js';
import { RateLimiter } from './rate-limiters.js';
import type { Observable } from 'rxjs';
import type { ServerResponse } from 'node:http';

/** Sets the rate limit headers before a handler can send the response head. */
@Injectable()
export class RateLimitInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { rateLimit } = http.getRequest<GatewayRequest>();
    if (rateLimit) setRateLimitHeaders(http.getResponse<Response>(), rateLimit);
    return next.handle();
  }
}

/**
 * Waits for fair scheduling, then counts the request against the key's rate limit and its open requests,
 * and refuses it when either is used up.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly rateLimiter: RateLimiter,
    private readonly inFlight: InFlightLimiter,
    private readonly starts: FairStarts,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    const response = http.getResponse<Response>();
    const { caller } = request;
    if (!caller) {
      throw new InternalError({ cause: new Error('RateLimitGuard ran before ApiKeyGuard') });
    }
    // Refusals queue too: sending thousands of them is work.
    const turn = this.starts.waitForTurn(caller.tenantId, response);
    return turn
      ? turn.then(() => this.count(caller, request, response))
      : this.count(caller, request, response);
  }

  private count(
    caller: Caller,
    request: GatewayRequest,
    response: Response,
  ): boolean | Promise<boolean> {
    const decision = this.rateLimiter.take(caller);
    if (!(decision instanceof Promise)) {
      assertAllowed(request, decision);
      this.inFlight.admit(caller, response);
      return true;
    }
    return decision.then((late) => {
      assertAllowed(request, late);
      this.inFlight.admit(caller, response);
      return true;
    });
  }
}

function assertAllowed(request: GatewayRequest, decision: RateLimitDecision): void {
  request.rateLimit = decision;
  if (decision.allowed) return;
  throw new RateLimitError(
    'rate_limit_per_minute',
    `This key may make ${decision.limit} requests per minute. Try again in ${decision.retryAfterSeconds} s.`,
    decision.retryAfterSeconds,
    'rate_limit_per_minute',
  );
}

/** Sets the rate limit headers, which all inference responses carry after the key check, errors included. */
export function setRateLimitHeaders(
  response: ServerResponse,
  { limit, remaining, resetAtSeconds }: RateLimitDecision,
): void {
  response.setHeader('X-RateLimit-Limit', String(limit));
  response.setHeader('X-RateLimit-Remaining', String(remaining));
  response.setHeader('X-RateLimit-Reset', String(resetAtSeconds));
}
