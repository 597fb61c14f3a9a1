import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthenticationError, PermissionError } from '../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../platform/http/body-budget.js';
import type { GatewayRequest } from './gateway-request.js';
import { KeyDirectory, type ResolvedKey } from './key-directory.service.js';
import { KEY_REQUIREMENT, type KeyRequirement } from './key-requirement.js';
import { readPresentedKey } from './read-presented-key.js';
import { WrongKeys } from './wrong-keys.js';

/** Lets a request pass with a key of the right type, and attaches its caller. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  /** What each handler asks for: reading its metadata costs more than checking a key. */
  private readonly requirements = new WeakMap<object, KeyRequirement>();

  constructor(
    private readonly reflector: Reflector,
    private readonly directory: KeyDirectory,
    private readonly wrongKeys: WrongKeys,
    private readonly bodies: BodyBudget,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const requirement = this.requirementOf(context);
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    const key = this.resolve(request, requirement);
    if (key instanceof Promise) return key.then((late) => this.admit(request, late, requirement));
    return this.admit(request, key, requirement);
  }

  private resolve(
    request: GatewayRequest,
    { acceptsXApiKey }: KeyRequirement,
  ): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
    let presented: string;
    try {
      presented = readPresentedKey(request.headers, acceptsXApiKey);
    } catch (error) {
      this.wrongKeys.note(request);
      throw error;
    }
    return this.directory.resolve(presented);
  }

  private admit(
    request: GatewayRequest,
    key: ResolvedKey | undefined,
    requirement: KeyRequirement,
  ): true {
    if (key?.status !== 'active') {
      this.wrongKeys.note(request);
      throw new AuthenticationError(
        key
          ? `The API key is ${key.status}. Use another key.`
          : 'The API key is unknown. Check that it is complete and current.',
      );
    }
    assertType(key, requirement);
    request.caller = key.caller;
    request.bodyShare = this.bodies.shareOf(key.caller.tenantId);
    return true;
  }

  private requirementOf(context: ExecutionContext): KeyRequirement {
    const handler = context.getHandler();
    let requirement = this.requirements.get(handler);
    if (!requirement) {
      const places = [handler, context.getClass()];
      requirement = this.reflector.getAllAndOverride<KeyRequirement>(KEY_REQUIREMENT, places);
      this.requirements.set(handler, requirement);
    }
    return requirement;
  }
}

function assertType({ caller }: ResolvedKey, requirement: KeyRequirement): void {
  if (requirement.keyType === 'routing' && caller.keyType !== 'routing') {
    throw new PermissionError(
      'A management key (sk-mgmt-…) cannot call models. Use a routing key (sk-…).',
    );
  }
  if (requirement.keyType === 'management' && caller.keyType !== 'management') {
    throw new PermissionError('This path needs a management key (sk-mgmt-…).');
  }
}
