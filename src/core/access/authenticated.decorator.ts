import { applyDecorators, SetMetadata, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ApiKeyGuard, KEY_REQUIREMENT, type KeyRequirement } from './api-key.guard.js';
import { ManagementLimitGuard } from './management-limit.guard.js';
import { RateLimitGuard, RateLimitInterceptor } from './rate-limit.guard.js';

interface AuthenticationOptions {
  acceptsXApiKey?: boolean;
  /** Callers ask again and again, and so may do so ten times as often. */
  isPolled?: boolean;
  /** Counted by a rate limit of its own. */
  isInference?: boolean;
}

/**
 * The key that a controller or method needs, guarded and documented in one, so that the two cannot
 * disagree. `any` takes both types.
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
          ApiErrorResponse(429, 'The key has made too many such requests; see `Retry-After`.'),
        ]),
    ApiBearerAuth(),
    ApiErrorResponse(503, "The service's database is away; see `Retry-After`."),
    ApiErrorResponse(401, 'The key is missing, malformed, unknown, expired or revoked.'),
    ...(keyType === 'any' ? [] : [ApiErrorResponse(403, FORBIDDEN[keyType])]),
  );
}

/** For a handler of a controller that takes any key: a management key is needed, before the body is read. */
export function ManagementOnly(): MethodDecorator {
  const requirement: KeyRequirement = {
    keyType: 'management',
    acceptsXApiKey: false,
    isPolled: false,
  };
  return SetMetadata(KEY_REQUIREMENT, requirement);
}

const FORBIDDEN = {
  routing: 'A management key (`sk-mgmt-…`) was used where a routing key (`sk-…`) is needed.',
  management: 'A routing key (`sk-…`) was used where a management key (`sk-mgmt-…`) is needed.',
};

interface InferenceOptions {
  acceptsXApiKey?: boolean;
  /**
   * For handlers that write the response themselves, and so call `setRateLimitHeaders` first: an
   * interceptor has nothing to wrap there, and costs 60 µs a request (docs/decisions/0005).
   */
  writesResponse?: boolean;
}

/** For controllers and methods that call models: a routing key, counted against its limit. */
export function Inference(options?: InferenceOptions): ClassDecorator & MethodDecorator {
  return applyDecorators(
    Authenticated('routing', { ...options, isInference: true }),
    UseGuards(RateLimitGuard),
    ...(options?.writesResponse ? [] : [UseInterceptors(RateLimitInterceptor)]),
    ApiErrorResponse(
      503,
      'The gateway has no memory for the body, or its database is away; see `Retry-After`.',
    ),
    ApiErrorResponse(
      429,
      "The key's requests of this minute are used up, or it has too many open; see `Retry-After`.",
    ),
  );
}
