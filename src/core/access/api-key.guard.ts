import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthenticationError, PermissionError } from '../../platform/errors/gateway-errors.js';
import type { GatewayRequest } from './gateway-request.js';
import { KeyDirectory, type ResolvedKey } from './key-directory.service.js';
import { KEY_REQUIREMENT, type KeyRequirement } from './key-requirement.js';
import { readPresentedKey } from './read-presented-key.js';

/** Lets a request pass with a key of the right type, and attaches its caller. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  /** What each handler asks for: reading its metadata costs more than checking a key. */
  private readonly requirements = new WeakMap<object, KeyRequirement>();

  constructor(
    private readonly reflector: Reflector,
    private readonly directory: KeyDirectory,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const requirement = this.requirementOf(context);
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    const presented = readPresentedKey(request.headers, requirement.acceptsXApiKey);
    const key = this.directory.resolve(presented);
    if (key instanceof Promise) return key.then((late) => admit(request, late, requirement));
    return admit(request, key, requirement);
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

function admit(
  request: GatewayRequest,
  key: ResolvedKey | undefined,
  requirement: KeyRequirement,
): true {
  if (!key) {
    throw new AuthenticationError('The API key is unknown. Check that it is complete and current.');
  }
  if (key.status !== 'active') {
    throw new AuthenticationError(`The API key is ${key.status}. Use another key.`);
  }
  if (requirement.keyType === 'routing' && key.caller.keyType !== 'routing') {
    throw new PermissionError(
      'A management key (sk-mgmt-…) cannot call models. Use a routing key (sk-…).',
    );
  }
  if (requirement.keyType === 'management' && key.caller.keyType !== 'management') {
    throw new PermissionError('This path needs a management key (sk-mgmt-…).');
  }
  request.caller = key.caller;
  return true;
}
