import { applyDecorators, SetMetadata, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ApiKeyGuard, KEY_REQUIREMENT, type KeyRequirement } from './api-key.guard.js';
import { ManagementLimitGuard } from './management-limit.guard.js';
import { RateLimitGuard, RateLimitInterceptor } from './rate-limit.guard.js';

interface AuthenticationOptions {
  acceptsXApiKey?: boolean;
  /** Callers poll the handler: its limit is ten times as high. */
  isPolled?: boolean;
  /** Counted against the key's own rate limit instead of the management limit. */
  isInference?: boolean;
}

/**
 * Guards a controller or method by key type (`any` for both) and documents it, so that the two
 * cannot disagree.
 */
export function Authenticated(
  keyType: KeyRequirement['keyType'],
  options?: AuthenticationOptions,
): ClassDecorator & MethodDecorator {
  const requirement: KeyRequirement = {
    keyType,
    acceptsXApiKey: options?.acceptsXApiKey ?? false,
    isPolled: options?.isPolled ?? false,
  };
  return applyDecorators(
    SetMetadata(KEY_REQUIREMENT, requirement),
    ...(options?.isInference
      ? [UseGuards(ApiKeyGuard)]
      : [
          UseGuards(ApiKeyGuard, ManagementLimitGuard),
          ApiErrorResponse(429, 'Too many requests by this key; see `Retry-After`.'),
        ]),
    ApiBearerAuth(),
    ApiErrorResponse(503, 'The database is unavailable; see `Retry-After`.'),
    ApiErrorResponse(401, 'The key is missing, malformed, unknown, expired or revoked.'),
    ...(keyType === 'any' ? [] : [ApiErrorResponse(403, FORBIDDEN[keyType])]),
  );
}

/** Requires a management key for one handler of an `any` controller, before the body is read. */
export function ManagementOnly(): MethodDecorator {
  const requirement: KeyRequirement = {
    keyType: 'management',
    acceptsXApiKey: false,
    isPolled: false,
  };
  return SetMetadata(KEY_REQUIREMENT, requirement);
}

const FORBIDDEN = {
  routing: 'A management key (`sk-mgmt-…`) was used where a routing key (`sk-…`) is required.',
  management: 'A routing key (`sk-…`) was used where a management key (`sk-mgmt-…`) is required.',
};

interface InferenceOptions {
  acceptsXApiKey?: boolean;
  /**
   * For handlers that write the response themselves and call `setRateLimitHeaders` first: the
   * interceptor would have nothing to wrap and costs 60 µs a request (docs/decisions/0005).
   */
  writesResponse?: boolean;
}

/** Guards controllers and methods that call models: requires a routing key and counts against its rate limit. */
export function Inference(options?: InferenceOptions): ClassDecorator & MethodDecorator {
  return applyDecorators(
    Authenticated('routing', { ...options, isInference: true }),
    UseGuards(RateLimitGuard),
    ...(options?.writesResponse ? [] : [UseInterceptors(RateLimitInterceptor)]),
    ApiErrorResponse(
      503,
      'No memory is free for the body, or the database is unavailable; see `Retry-After`.',
    ),
    ApiErrorResponse(
      429,
      "The key's requests of this minute are used up, or too many are open; see `Retry-After`.",
    ),
  );
}
