import {
  applyDecorators,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiCookieAuth } from '@nestjs/swagger';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { ManagementLimitGuard } from '../../core/access/management-limit.guard.js';
import { SessionGate } from '../../core/access/sessions/session-gate.service.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';

/** Requires any valid session. */
@Injectable()
class SessionGuard implements CanActivate {
  constructor(private readonly gate: SessionGate) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    request.session = await this.gate.sessionOf(request);
    return true;
  }
}

/** Marks handlers about the session itself, which accept no key. */
export function LoggedIn(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    UseGuards(SessionGuard, ManagementLimitGuard),
    ApiCookieAuth('session'),
    ApiErrorResponse(401, 'There is no session, or it has expired.'),
    ApiErrorResponse(403, 'A change lacks `X-CSRF-Token`, or comes from another origin.'),
    ApiErrorResponse(429, 'Too many requests; see `Retry-After`.'),
    ApiErrorResponse(503, 'The database is unavailable; see `Retry-After`.'),
  );
}
