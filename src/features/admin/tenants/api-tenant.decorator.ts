import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';

/**
 * Describes a handler whose path names a tenant.
 * @param part a further path parameter and its noun, such as `key_id` and `API key`
 */
export function ApiTenant(part?: { param: string; noun: string }): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'tenant_id', format: 'uuid' }),
    ...(part ? [ApiParam({ name: part.param, format: 'uuid' })] : []),
    ApiErrorResponse(
      404,
      `The tenant does not exist${part ? `, or has no such ${part.noun}` : ''}.`,
    ),
  );
}
