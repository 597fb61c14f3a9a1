import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { InternalError } from '../../platform/errors/gateway-errors.js';
import type { Caller } from './caller.js';
import type { GatewayRequest } from './gateway-request.js';

/**
 * The caller of a request behind `@Authenticated`. For handlers in the hot path: a decorated
 * parameter goes through Nest's pipes, which costs more than the rest of the frame.
 */
export function callerOf({ caller }: GatewayRequest): Caller {
  if (!caller) throw new InternalError({ cause: new Error('The handler lacks @Authenticated') });
  return caller;
}

/** The caller of a handler behind `@Authenticated`. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<GatewayRequest>()),
);
