import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { Authenticated } from './authenticated.decorator.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimitInterceptor } from './rate-limit.interceptor.js';

export interface InferenceOptions {
  acceptsXApiKey?: boolean;
  /**
   * For handlers that write the response themselves, and so call `setRateLimitHeaders` first: an
   * interceptor has nothing to wrap there, and costs 60 µs a request (docs/decisions/0008).
   */
  writesResponse?: boolean;
}

/** For controllers and methods that call models: a routing key, counted against its limit. */
export function Inference(options?: InferenceOptions): ClassDecorator & MethodDecorator {
  return applyDecorators(
    Authenticated('routing', { ...options, isInference: true }),
    UseGuards(RateLimitGuard),
    ...(options?.writesResponse ? [] : [UseInterceptors(RateLimitInterceptor)]),
    ApiErrorResponse(503, 'The gateway has no memory for the body; see `Retry-After`.'),
    ApiErrorResponse(
      429,
      "The key's requests of this minute are used up, or it has too many open; see `Retry-After`.",
    ),
  );
}
