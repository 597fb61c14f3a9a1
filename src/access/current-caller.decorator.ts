import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { InternalError } from '../common/errors/gateway-errors.js';
import type { Caller } from './caller.js';
import type { GatewayRequest } from './gateway-request.js';

/** The caller of a handler behind `@Authenticated`. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller => {
    const { caller } = context.switchToHttp().getRequest<GatewayRequest>();
    if (!caller) throw new InternalError({ cause: new Error('The handler lacks @Authenticated') });
    return caller;
  },
);
