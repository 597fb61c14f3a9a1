import { applyDecorators, SetMetadata, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiSecurity } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/api-error-response.decorator.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { KEY_REQUIREMENT, type KeyRequirement } from './key-requirement.js';

/**
 * The key that a controller or method needs, guarded and documented in one, so that the two cannot
 * disagree. `any` takes both types.
 */
export function Authenticated(
  keyType: KeyRequirement['keyType'],
  options?: { acceptsXApiKey?: boolean },
): ClassDecorator & MethodDecorator {
  const requirement: KeyRequirement = {
    keyType,
    acceptsXApiKey: options?.acceptsXApiKey ?? false,
  };
  return applyDecorators(
    SetMetadata(KEY_REQUIREMENT, requirement),
    UseGuards(ApiKeyGuard),
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
