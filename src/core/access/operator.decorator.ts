import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ManagementLimitGuard } from './management-limit.guard.js';
import { OperatorGuard } from './operator.guard.js';

/** The name of the operators' security scheme in the OpenAPI description. */
export const ADMIN_SCHEME = 'admin';

/**
 * For controllers and methods under `/v1/admin`, guarded and documented in one: an operator's key is
 * needed, of an admin for all but GET and HEAD.
 */
export function Operator(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    UseGuards(OperatorGuard, ManagementLimitGuard),
    ApiBearerAuth(ADMIN_SCHEME),
    ApiErrorResponse(401, 'The key is missing, malformed, unknown, expired or revoked.'),
    ApiErrorResponse(403, "A tenant's key was used, or an auditor's for a change."),
    ApiErrorResponse(429, 'The key has made too many such requests; see `Retry-After`.'),
    ApiErrorResponse(503, "The service's database is away; see `Retry-After`."),
  );
}
