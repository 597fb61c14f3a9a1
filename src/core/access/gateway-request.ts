import type { BodyShare } from '../../platform/http/body-budget.js';
import type { IdentifiedRequest } from '../../platform/http/standard-headers.js';
import { isOperatorRole } from './roles.js';
import type { Session } from './sessions/session.js';
import type { Caller, Operator } from './caller.js';
import type { RateLimitDecision } from './rate-limit-decisions.js';
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { InternalError } from '../../platform/errors/gateway-errors.js';

/** The caller of a handler behind `@Authenticated`. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<GatewayRequest>()),
);

/** A request behind the guards. They read its head only: the body has not arrived yet. */
export interface GatewayRequest extends IdentifiedRequest {
  /** Set by `ApiKeyGuard`. */
  caller?: Caller;
  /** Set by `OperatorGuard`. */
  operator?: Operator;
  /** Set by each guard that took a session's cookie in place of a key. */
  session?: Session;
  /** Set by `ApiKeyGuard`: what the body may take of the memory for bodies. */
  bodyShare?: BodyShare;
  /** Set by `RateLimitGuard`. */
  rateLimit?: RateLimitDecision;
}

/**
 * The caller of a request behind `@Authenticated`. For handlers in the hot path: a decorated
 * parameter goes through Nest's pipes, which costs more than the rest of the frame.
 */
export function callerOf({ caller }: GatewayRequest): Caller {
  if (!caller) throw new InternalError({ cause: new Error('The handler lacks @Authenticated') });
  return caller;
}

/** On whom a request counts that is no inference: a tenant's key or member, or an operator. */
export function countedOf(
  request: GatewayRequest,
): Pick<Caller, 'tenantId' | 'apiKeyId' | 'countsOn'> {
  const { caller, session } = request;
  // An operator who acts for a tenant takes none of what its own people may ask in a minute.
  const isGuest = caller?.actingRole !== undefined && isOperatorRole(caller.actingRole);
  const actor = request.operator?.actor ?? (caller && !isGuest ? undefined : session?.actor);
  if (!actor) return callerOf(request);
  const { kind, id } = actor;
  return { tenantId: `operator:${kind}:${id}`, apiKeyId: `operator:${kind}:${id}` };
}
