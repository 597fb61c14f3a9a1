import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthenticationError, PermissionError } from '../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../platform/http/body-budget.js';
import type { GatewayRequest } from './gateway-request.js';
import { KeyDirectory, type ResolvedKey } from './key-directory.service.js';
import { WrongKeys } from './wrong-keys.js';
import type { ApiKeyType, Caller } from './caller.js';
import { isAdminKey } from './api-key.js';
import { requireRight } from './key-rights.js';
import { MEMBER_RIGHT, type MemberRight, KEY_RIGHTS } from './roles.js';
import { SessionGate } from './sessions/session-gate.service.js';
import type { IncomingHttpHeaders } from 'node:http';

/** Metadata key of a handler's or controller's KeyRequirement. */
export const KEY_REQUIREMENT = Symbol('KEY_REQUIREMENT');

/** Admits requests with a key of the required type, or a session with the required right, and attaches the caller. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  /** Requirement by handler: reading its metadata costs more than checking a key. */
  private readonly requirements = new WeakMap<object, Requirement>();

  constructor(
    private readonly reflector: Reflector,
    private readonly directory: KeyDirectory,
    private readonly wrongKeys: WrongKeys,
    private readonly bodies: BodyBudget,
    private readonly sessions: SessionGate,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const requirement = this.requirementOf(context);
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    // Model calls accept keys only, so they skip the cookie lookup.
    if (requirement.keyType !== 'routing' && this.carriesSession(request, requirement)) {
      return this.admitSession(request, requirement);
    }
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
    requirement: Requirement,
  ): true {
    if (key?.status !== 'active') {
      this.wrongKeys.note(request);
      throw new AuthenticationError(
        key ? `The API key is ${key.status}. Use another key.` : unknownKey(request.headers),
      );
    }
    assertType(key, requirement);
    refuseWithheld(key.caller, requirement.memberRight);
    if (key.isSuspended) refuseSuspended(request);
    request.caller = key.caller;
    request.bodyShare = this.bodies.shareOf(key.caller.tenantId);
    return true;
  }

  private carriesSession(request: GatewayRequest, { acceptsXApiKey }: KeyRequirement): boolean {
    const { authorization, 'x-api-key': apiKey } = request.headers;
    if (authorization !== undefined || (acceptsXApiKey && apiKey !== undefined)) return false;
    return this.sessions.tokenOf(request) !== undefined;
  }

  private async admitSession(
    request: GatewayRequest,
    { memberRight }: Requirement,
  ): Promise<boolean> {
    const session = await this.sessions.sessionOf(request);
    const { caller, isSuspended } = await this.sessions.callerIn(session, request, memberRight);
    refuseWithheld(caller, memberRight);
    if (isSuspended) refuseSuspended(request);
    request.session = session;
    request.caller = caller;
    request.bodyShare = this.bodies.shareOf(caller.tenantId);
    return true;
  }

  private requirementOf(context: ExecutionContext): Requirement {
    const handler = context.getHandler();
    let requirement = this.requirements.get(handler);
    if (!requirement) {
      const places = [handler, context.getClass()];
      requirement = {
        ...this.reflector.getAllAndOverride<KeyRequirement>(KEY_REQUIREMENT, places),
        memberRight: this.reflector.getAllAndOverride<MemberRight>(MEMBER_RIGHT, places),
      };
      this.requirements.set(handler, requirement);
    }
    return requirement;
  }
}

/** A key has no right that its creator lacked. @throws PermissionError */
function refuseWithheld(caller: Caller, needed: MemberRight | undefined): void {
  if (caller.withheld === undefined) return;
  const right = KEY_RIGHTS.find((each) => each === needed);
  if (right !== undefined) requireRight(caller, right);
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

/**
 * Refuses everything but reads for a suspended tenant.
 *
 * @throws PermissionError
 */
function refuseSuspended({ method }: Pick<GatewayRequest, 'method'>): void {
  if (method === 'GET' || method === 'HEAD') return;
  throw new PermissionError(
    'This account is suspended: it may read, but model calls and changes are refused until the operator of this gateway resumes it.',
    'tenant',
  );
}

interface Requirement extends KeyRequirement {
  /** Right that sessions need; undefined when sessions are refused. */
  readonly memberRight: MemberRight | undefined;
}

/** A handler's requirements, set by `@Authenticated`. */
export interface KeyRequirement {
  readonly keyType: ApiKeyType | 'any';
  /** True when `x-api-key` is read as well as `Authorization`. */
  readonly acceptsXApiKey: boolean;
  /** True when callers poll the handler, which raises its limit. */
  readonly isPolled: boolean;
}

/**
 * Returns the key in `Authorization: Bearer <key>`, or in `x-api-key: <key>` where that is accepted. The
 * bearer key takes precedence, since some SDKs send a placeholder in `x-api-key`.
 *
 * @throws AuthenticationError when there is none
 */
export function readPresentedKey(headers: IncomingHttpHeaders, acceptsXApiKey: boolean): string {
  const bearer = bearerKey(headers.authorization);
  if (bearer) return bearer;
  const header = headers['x-api-key'];
  const apiKey = typeof header === 'string' ? header.trim() : '';
  if (acceptsXApiKey && apiKey) return apiKey;
  throw new AuthenticationError(explain(headers.authorization, apiKey, acceptsXApiKey));
}

/** Parses without a regular expression, since it runs on every request and must stay linear in the input. */
function bearerKey(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined;
  const separator = authorization.charAt(6);
  if (separator !== ' ' && separator !== '\t') return undefined;
  if (authorization.slice(0, 6).toLowerCase() !== 'bearer') return undefined;
  return authorization.slice(7).trim();
}

function explain(
  authorization: string | undefined,
  apiKey: string,
  acceptsXApiKey: boolean,
): string {
  const expected = acceptsXApiKey
    ? '"Authorization: Bearer <API_KEY>" or "x-api-key: <API_KEY>"'
    : '"Authorization: Bearer <API_KEY>"';
  if (authorization) return `The Authorization header is malformed. Send ${expected}.`;
  if (apiKey) return `This path does not read the x-api-key header. Send ${expected}.`;
  return `The API key is missing. Send ${expected}.`;
}

/** Does not look the key up among admin keys, so that this path reveals nothing about them. */
function unknownKey(headers: IncomingHttpHeaders): string {
  const key = bearerKey(headers.authorization) ?? '';
  return isAdminKey(key)
    ? 'An admin key (sk-admin-…) opens /v1/admin only. Use a key of a tenant.'
    : 'The API key is unknown. Check that it is complete and current.';
}
