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

const RESTRICTED = 'the gateway or the resource requires a management key for changes';

/** With `GATEWAY_CUSTOMER_WRITES=management`, rejects changes by routing keys. */
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
      'Changes need a management key (sk-mgmt-…) on this gateway. Routing keys may only read.',
    );
  }
}

/** For controllers under `/v1/customer`: accepts any key of the tenant, subject to `CustomerWritesGuard`. */
export function Customer(): ClassDecorator & MethodDecorator {
  return applyDecorators(Authenticated('any'), UseGuards(CustomerWritesGuard));
}

/** For handlers that show or control the tenant's stored prompts and answers. */
export function OwnersOnly(): ClassDecorator & MethodDecorator {
  return applyDecorators(Authenticated('management'), Members('content'));
}

/** Returns whether a caller passes `OwnersOnly`. */
export function mayReadContent(caller: Caller): boolean {
  return caller.keyType === 'management' && holdsRight(caller, 'content');
}

/**
 * Documents the refusals of a handler that changes the tenant's account.
 *
 * @param ownReason further reason for a 403, as a clause
 */
export function ApiChange(ownReason?: string): MethodDecorator {
  const reasons = ownReason === undefined ? RESTRICTED : `${ownReason}, or ${RESTRICTED}`;
  return ApiErrorResponse(403, `${reasons[0]!.toUpperCase()}${reasons.slice(1)}.`);
}

/** Documents a handler whose path has the id of one of the tenant's resources. */
export function ApiOwn(noun: string): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'id', format: 'uuid' }),
    ApiErrorResponse(404, `The tenant has no ${noun} with this id.`),
  );
}

/**
 * Documents a handler that takes a JSON body.
 *
 * @param type class of the body
 * @param examples example bodies by summary
 * @param field example of a field path, as in errors
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

/** Documents a handler that takes query parameters. */
export function ApiFilters(): MethodDecorator {
  return ApiErrorResponse(400, 'A query parameter is malformed or unknown; `param` names it.');
}
