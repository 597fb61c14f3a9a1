import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AuthenticationError, PermissionError } from '../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../platform/http/body-budget.js';
import { AdminKeyDirectory } from './admin-key-directory.service.js';
import { apiKeyStatus } from './api-key.entity.js';
import { readPresentedKey } from './api-key.guard.js';
import { isAdminKey } from './api-key.js';
import type { Operator } from './caller.js';
import type { GatewayRequest } from './gateway-request.js';
import { KeyDirectory } from './key-directory.service.js';
import { SessionGate } from './sessions/session-gate.service.js';
import { WrongKeys } from './wrong-keys.js';

/** All operators together get the share of body memory that one tenant gets. */
const BODY_SHARE = 'operators';

/** Admits requests of operators, changes only by admins, and attaches the operator. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly adminKeys: AdminKeyDirectory,
    private readonly tenantKeys: KeyDirectory,
    private readonly wrongKeys: WrongKeys,
    private readonly bodies: BodyBudget,
    private readonly sessions: SessionGate,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    const operator = await this.identify(request);
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    if (operator.role !== 'admin' && !isReading) {
      throw new PermissionError('An auditor may only read. Changes need the role `admin`.');
    }
    request.operator = operator;
    request.bodyShare = this.bodies.shareOf(BODY_SHARE);
    return true;
  }

  /** @throws AuthenticationError, PermissionError */
  private async identify(request: GatewayRequest): Promise<Operator> {
    if (request.headers.authorization === undefined && this.sessions.tokenOf(request)) {
      request.session = await this.sessions.sessionOf(request);
      return this.sessions.operatorOf(request.session);
    }
    try {
      const presented = readPresentedKey(request.headers, false);
      return await (isAdminKey(presented) ? this.ofKey(presented) : this.refuse(presented));
    } catch (error) {
      if (error instanceof AuthenticationError) this.wrongKeys.note(request);
      throw error;
    }
  }

  private async ofKey(presented: string): Promise<Operator> {
    const key = await this.adminKeys.resolve(presented);
    if (!key) {
      throw new AuthenticationError(
        'The admin key is unknown. Check that it is complete and current.',
      );
    }
    const status = apiKeyStatus(key, Date.now());
    if (status !== 'active') {
      throw new AuthenticationError(`The admin key is ${status}. Use another key.`);
    }
    this.adminKeys.noteUse(key.id);
    return { actor: { kind: 'admin_key', id: key.id, name: key.name }, role: key.role };
  }

  /** Names the wrong kind of key only to holders of a valid tenant key. */
  private async refuse(presented: string): Promise<never> {
    if ((await this.tenantKeys.resolve(presented))?.status === 'active') {
      throw new PermissionError("This path needs an operator's key (sk-admin-…).");
    }
    throw new AuthenticationError('The key is unknown. This path needs an admin key (sk-admin-…).');
  }
}
