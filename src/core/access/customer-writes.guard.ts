import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import type { GatewayRequest } from './gateway-request.js';

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
