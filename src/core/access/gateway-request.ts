import type { BodyShare } from '../../platform/http/body-budget.js';
import type { IdentifiedRequest } from '../../platform/http/standard-headers.js';
import { isOperatorRole } from './roles.js';
import type { Session } from './sessions/session.js';
import type { Caller, Operator } from './caller.js';
import type { RateLimitDecision } from './rate-limit-decisions.js';
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { InternalError } from '../../platform/errors/gateway-errors.js';

/** Injects the caller into handlers behind `@Authenticated`. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<GatewayRequest>()),
);

/** A request with the results of the guards. They run before the body arrives. */
export interface GatewayRequest extends IdentifiedRequest {
  /** Set by `ApiKeyGuard`. */
  caller?: Caller;
  /** Set by `OperatorGuard`. */
  operator?: Operator;
  /** Set by guards that accepted a session cookie instead of a key. */
  session?: Session;
  /** Set by `ApiKeyGuard`: the body's share of the memory for bodies. */
  bodyShare?: BodyShare;
  /** Set by `RateLimitGuard`. */
  rateLimit?: RateLimitDecision;
}

/**
 * Returns the caller of a request behind `@Authenticated`. Handlers in the hot path call this instead of
 * using `@CurrentCaller`: Nest's pipes for decorated parameters cost more than the rest of the framework.
 */
export function callerOf({ caller }: GatewayRequest): Caller {
  if (!caller) throw new InternalError({ cause: new Error('The handler lacks @Authenticated') });
  return caller;
}

/** Returns the tenant and key, or the operator, that a management request counts against. */
export function countedOf(
  request: GatewayRequest,
): Pick<Caller, 'tenantId' | 'apiKeyId' | 'countsOn'> {
  const { caller, session } = request;
  // Operators acting for a tenant do not use up the request limits of its members.
  const isGuest = caller?.actingRole !== undefined && isOperatorRole(caller.actingRole);
  const actor = request.operator?.actor ?? (caller && !isGuest ? undefined : session?.actor);
  if (!actor) return callerOf(request);
  const { kind, id } = actor;
  return { tenantId: `operator:${kind}:${id}`, apiKeyId: `operator:${kind}:${id}` };
}
