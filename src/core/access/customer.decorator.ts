import {
  applyDecorators,
  UseGuards,
  CanActivate,
  ExecutionContext,
  Inject,
  Injectable,
  type Type,
} from '@nestjs/common';
import { Authenticated } from './authenticated.decorator.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import { Members } from './roles.js';
import { holdsRight } from './key-rights.js';
import type { Caller } from './caller.js';
import type { GatewayRequest } from './gateway-request.js';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';

const RESTRICTED =
  'changes need a management key on this gateway, or for what a management key or the operator made';

/** With `GATEWAY_CUSTOMER_WRITES=management`, only management keys change anything. */
@Injectable()
export class CustomerWritesGuard implements CanActivate {
  private readonly isRestricted: boolean;

  constructor(@Inject(APP_CONFIG) config: Pick<AppConfig, 'customerWrites'>) {
    this.isRestricted = config.customerWrites === 'management';
  }

  canActivate(context: ExecutionContext): boolean {
    if (!this.isRestricted) return true;
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    if (request.method === 'GET' || request.method === 'HEAD') return true;
    if (request.caller?.keyType === 'management') return true;
    throw new PermissionError(
      'Changes need a management key (sk-mgmt-…) on this gateway; routing keys may only read.',
    );
  }
}

/** For controllers under `/v1/customer`: any key of the tenant, unless changes are restricted. */
export function Customer(): ClassDecorator & MethodDecorator {
  return applyDecorators(Authenticated('any'), UseGuards(CustomerWritesGuard));
}

/** For what only those who own the tenant's prompts and answers may see or do. */
export function OwnersOnly(): ClassDecorator & MethodDecorator {
  return applyDecorators(Authenticated('management'), Members('content'));
}

/** Whether a caller is one of those of `OwnersOnly`. */
export function mayReadContent(caller: Caller): boolean {
  return caller.keyType === 'management' && holdsRight(caller, 'content');
}

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
 * @param type the class of the body
 * @param examples bodies, by a sentence on each
 * @param field the path of a field, as an error names it
 */
export function ApiFields(
  type: Type,
  examples: Readonly<Record<string, object>>,
  field?: string,
): MethodDecorator {
  const names = field === undefined ? 'names it' : `names it, as \`${field}\``;
  const named = Object.entries(examples).map(
    ([summary, value]) => [summary, { summary, value }] as const,
  );
  return applyDecorators(
    ApiBody({ type, examples: Object.fromEntries(named) }),
    ApiErrorResponse(400, `A field is missing, malformed or unknown; \`param\` ${names}.`),
  );
}

/** Describes a handler that takes query parameters. */
export function ApiFilters(): MethodDecorator {
  return ApiErrorResponse(400, 'A query parameter is malformed or unknown; `param` names it.');
}
