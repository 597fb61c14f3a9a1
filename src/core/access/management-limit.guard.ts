import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  UseGuards,
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { countedKeyOf, type Caller } from './caller.js';
import { countedOf, type GatewayRequest } from './gateway-request.js';
import { InFlightLimiter } from './in-flight-limiter.js';
import { KEY_REQUIREMENT, type KeyRequirement } from './api-key.guard.js';
import type { RateLimitDecision } from './rate-limit-decisions.js';
import { RateLimiter } from './rate-limiters.js';

/** A client that waits for a hundred jobs polls each of them every few seconds. */
const POLLS_PER_MANAGEMENT_REQUEST = 10;
const REFUSAL_DELAY_MS = 100;
/** A report may read the tenant's entire history. */
const REPORTS_AT_ONCE = 2;

/** Counts management requests (everything but inference) per key and minute, polls separately. */
@Injectable()
export class ManagementLimitGuard implements CanActivate {
  private readonly perMinute: number;

  constructor(
    private readonly reflector: Reflector,
    private readonly rateLimiter: RateLimiter,
    private readonly inFlight: InFlightLimiter,
    @Inject(APP_CONFIG) { admission }: Pick<AppConfig, 'admission'>,
  ) {
    this.perMinute = admission.managementPerMinute;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const caller = countedOf(http.getRequest<GatewayRequest>());
    // Refusals queue too: sending thousands of them is work.
    const turn = this.inFlight.waitForTurn(caller, http.getResponse<Response>());
    return turn ? turn.then(() => this.count(caller, context)) : this.count(caller, context);
  }

  private count(
    caller: Pick<Caller, 'apiKeyId' | 'countsOn'>,
    context: ExecutionContext,
  ): boolean | Promise<boolean> {
    const apiKeyId = countedKeyOf(caller);
    const places = [context.getHandler(), context.getClass()];
    const requirement = this.reflector.getAllAndOverride<KeyRequirement | undefined>(
      KEY_REQUIREMENT,
      places,
    );
    const decision = this.rateLimiter.take(
      requirement?.isPolled
        ? {
            apiKeyId: `polls:${apiKeyId}`,
            rateLimitPerMinute: this.perMinute * POLLS_PER_MANAGEMENT_REQUEST,
          }
        : { apiKeyId: `management:${apiKeyId}`, rateLimitPerMinute: this.perMinute },
    );
    if (decision instanceof Promise) return decision.then(admit);
    return decision.allowed || admit(decision);
  }
}

/** Delays refusals, so that callers that retry at once are slowed down and keep their tenant's place busy. */
async function admit({ allowed, limit, retryAfterSeconds }: RateLimitDecision): Promise<true> {
  if (allowed) return true;
  await pause(REFUSAL_DELAY_MS);
  throw new RateLimitError(
    'management_rate_limit_per_minute',
    `This key may make ${limit} management requests per minute. Try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
    'management_rate_limit_per_minute',
  );
}

/** Limits how many of a tenant's requests run at once. */
@Injectable()
class TurnGuard implements CanActivate {
  constructor(private readonly inFlight: InFlightLimiter) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const caller = countedOf(http.getRequest<GatewayRequest>());
    await this.inFlight.waitForTurn(caller, http.getResponse<Response>());
    return true;
  }
}

/** For handlers under `@Inference` that enqueue work and return at once; place it above `@Inference`. */
export function InTurn(): MethodDecorator & ClassDecorator {
  return UseGuards(TurnGuard);
}

/** Admits two reports of a tenant at a time. */
@Injectable()
class ReportGuard implements CanActivate {
  constructor(private readonly inFlight: InFlightLimiter) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const caller = countedOf(http.getRequest<GatewayRequest>());
    this.inFlight.admitReport(caller, http.getResponse<Response>(), REPORTS_AT_ONCE);
    return true;
  }
}

/** For handlers behind `@Authenticated` that keep the database busy, such as exports and analytics. */
export function Report(): MethodDecorator & ClassDecorator {
  return applyDecorators(
    UseGuards(ReportGuard),
    ApiErrorResponse(429, 'The tenant has two exports or reports open; see `Retry-After`.'),
  );
}
