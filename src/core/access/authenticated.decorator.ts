import { applyDecorators, SetMetadata, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiSecurity } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { ManagementLimitGuard } from './management-limit.guard.js';
import { KEY_REQUIREMENT, type KeyRequirement } from './key-requirement.js';

export interface AuthenticationOptions {
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
    ...(requirement.acceptsXApiKey ? [ApiSecurity('x-api-key')] : []),
    ApiErrorResponse(401, 'The key is missing, malformed, unknown, expired or revoked.'),
    ...(keyType === 'any' ? [] : [ApiErrorResponse(403, FORBIDDEN[keyType])]),
  );
}

const FORBIDDEN = {
  routing: 'A management key (`sk-mgmt-…`) was used where a routing key (`sk-…`) is needed.',
  management: 'A routing key (`sk-…`) was used where a management key (`sk-mgmt-…`) is needed.',
};
