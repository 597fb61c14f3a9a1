import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { InternalError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import type { GatewayRequest } from './gateway-request.js';
import { RateLimiter, type RateLimitDecision } from './rate-limiter.js';

/** Counts the request against its key's minute and refuses it when that is used up. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly rateLimiter: RateLimiter) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    if (!request.caller) {
      throw new InternalError({ cause: new Error('RateLimitGuard ran before ApiKeyGuard') });
    }
    const decision = this.rateLimiter.take(request.caller);
    if (decision instanceof Promise) return decision.then((late) => admit(request, late));
    return admit(request, decision);
  }
}

function admit(request: GatewayRequest, decision: RateLimitDecision): true {
  request.rateLimit = decision;
  if (decision.allowed) return true;
  throw new RateLimitError(
    'rate_limit_per_minute',
    `This key may make ${decision.limit} requests per minute. Try again in ${decision.retryAfterSeconds} s.`,
    decision.retryAfterSeconds,
  );
}
