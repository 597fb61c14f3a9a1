import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiErrorResponse } from '../common/errors/api-error-response.decorator.js';
import { Authenticated } from './authenticated.decorator.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimitInterceptor } from './rate-limit.interceptor.js';

/** For controllers and methods that call models: a routing key, counted against its limit. */
export function Inference(options?: {
  acceptsXApiKey?: boolean;
}): ClassDecorator & MethodDecorator {
  return applyDecorators(
    Authenticated('routing', options),
    UseGuards(RateLimitGuard),
    UseInterceptors(RateLimitInterceptor),
    ApiErrorResponse(429, "The key's requests of this minute are used up; see `Retry-After`."),
  );
}
