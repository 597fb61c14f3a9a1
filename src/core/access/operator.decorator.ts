import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ManagementLimitGuard } from './management-limit.guard.js';
import { OperatorGuard } from './operator.guard.js';

/** Security scheme of operators in the OpenAPI description. */
export const ADMIN_SCHEME = 'admin';

/**
 * Guards and documents controllers and methods under `/v1/admin`: requires an operator's key, and an
 * admin's for everything but GET and HEAD.
 */
export function Operator(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    UseGuards(OperatorGuard, ManagementLimitGuard),
    ApiBearerAuth(ADMIN_SCHEME),
    ApiErrorResponse(401, 'The key is missing, malformed, unknown, expired or revoked.'),
    ApiErrorResponse(403, "A tenant's key was used, or an auditor's key for a change."),
    ApiErrorResponse(429, 'Too many requests by this key; see `Retry-After`.'),
    ApiErrorResponse(503, 'The database is unavailable; see `Retry-After`.'),
  );
}
