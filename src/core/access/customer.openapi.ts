import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';

const RESTRICTED =
  'changes need a management key on this gateway, or for what a management key or the operator made';

/**
 * Describes a handler that changes something of the tenant's account.
 *
 * @param ownReason why it may be refused besides, as a clause
 */
export function ApiChange(ownReason?: string): MethodDecorator {
  const reasons = ownReason === undefined ? RESTRICTED : `${ownReason}, or ${RESTRICTED}`;
  return ApiErrorResponse(403, `${reasons[0]!.toUpperCase()}${reasons.slice(1)}.`);
}

/** Describes a handler whose path names one of the tenant's things by its id. */
export function ApiOwn(noun: string): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'id', format: 'uuid' }),
    ApiErrorResponse(404, `The tenant has no ${noun} with this id.`),
  );
}

/**
 * Describes a handler that takes a JSON body.
 *
 * @param example the path of a field, as an error names it
 */
export function ApiFields(example?: string): MethodDecorator {
  const names = example === undefined ? 'names it' : `names it, as \`${example}\``;
  return ApiErrorResponse(400, `A field is missing, malformed or unknown; \`param\` ${names}.`);
}

/** Describes a handler that takes query parameters. */
export function ApiFilters(): MethodDecorator {
  return ApiErrorResponse(400, 'A query parameter is malformed or unknown; `param` names it.');
}
