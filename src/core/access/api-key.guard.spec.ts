import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ApiKeyStatus } from './api-key.entity.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { Authenticated } from './authenticated.decorator.js';
import type { ApiKeyType, Caller } from './caller.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { BodyBudget } from '../../platform/http/body-budget.js';
import { ClientNetworks } from './client-networks.js';
import { WrongKeys } from './wrong-keys.js';
import { Members } from './roles.js';
import type { SessionGate } from './sessions/session-gate.service.js';
import type { GatewayRequest } from './gateway-request.js';
import type { KeyDirectory, ResolvedKey } from './key-directory.service.js';

@Authenticated('routing')
class Routing {}

@Authenticated('management')
class Management {}

@Authenticated('any')
class Any {}

@Authenticated('any')
@Members('read')
class Declared {}

@Authenticated('routing')
class Mixed {
  @Authenticated('management')
  settings(): void {}
}

describe(ApiKeyGuard.name, () => {
  it('attaches the caller, for a cached key and for one that must be read', async () => {
    const atOnce = requestWith('sk-routing');
    expect(guard().canActivate(contextOf(Routing, atOnce))).toBe(true);
    expect(atOnce.caller).toEqual(callerOf('routing'));

    const late = requestWith('sk-routing');
    await expect(guard({ late: true }).canActivate(contextOf(Routing, late))).resolves.toBe(true);
    expect(late.caller).toEqual(callerOf('routing'));
  });

  it.each(['sk-unknown', 'sk-expired', 'sk-revoked'])('returns 401 for %s', async (key) => {
    const refusal = expect.objectContaining({ status: 401, param: 'authorization' });
    const request = requestWith(key);
    expect(() => guard().canActivate(contextOf(Any, request))).toThrow(refusal);
    await expect(guard({ late: true }).canActivate(contextOf(Any, request))).rejects.toEqual(
      refusal,
    );
    expect(request.caller).toBeUndefined();
  });

  it('says whether the key is expired or revoked', () => {
    for (const status of ['expired', 'revoked']) {
      expect(() => guard().canActivate(contextOf(Any, requestWith(`sk-${status}`)))).toThrow(
        status,
      );
    }
  });

  it.each([
    [Routing, 'sk-mgmt-management'],
    [Management, 'sk-routing'],
  ])('returns 403 for a key of the other type', (controller, key) => {
    const request = requestWith(key);
    expect(() => guard().canActivate(contextOf(controller, request))).toThrow(
      expect.objectContaining({ status: 403, type: 'permission_error', param: 'authorization' }),
    );
    expect(request.caller).toBeUndefined();
  });

  it.each(['sk-routing', 'sk-mgmt-management'])('accepts %s where any key is allowed', (key) => {
    expect(guard().canActivate(contextOf(Any, requestWith(key)))).toBe(true);
  });

  it('allows a suspended tenant only to read', () => {
    for (const method of ['GET', 'HEAD']) {
      const reading = requestWith('sk-suspended', method);
      expect(guard().canActivate(contextOf(Any, reading))).toBe(true);
    }
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
      const changing = requestWith('sk-suspended', method);
      expect(() => guard().canActivate(contextOf(Any, changing))).toThrow(
        expect.objectContaining({
          status: 403,
          type: 'permission_error',
          param: 'tenant',
          message: expect.stringContaining('suspended'),
        }),
      );
      expect(changing.caller).toBeUndefined();
    }
  });

  it('passes the declared right to the session check, and skips sessions for model calls', async () => {
    const checkedRights: (string | undefined)[] = [];
    const sessions = {
      tokenOf: () => 'a-token',
      sessionOf: () => Promise.resolve({}),
      callerIn: (_: unknown, __: unknown, right?: string) => {
        checkedRights.push(right);
        return { caller: callerOf('management'), isSuspended: right === 'read' };
      },
    };
    const request = { ...requestWith(''), headers: { cookie: 'a cookie' } } as GatewayRequest;
    const canActivate = (controller: new () => object, each = request): unknown =>
      guard({ late: false, sessions }).canActivate(contextOf(controller, each));
    await canActivate(Any);
    await canActivate(Declared);
    expect(checkedRights).toEqual([undefined, 'read']);
    expect(request.session).toBeDefined();
    const changing = { ...request, method: 'POST' } as GatewayRequest;
    await expect(canActivate(Declared, changing)).rejects.toMatchObject({ param: 'tenant' });
    expect(() => canActivate(Routing)).toThrow(/API key is missing/);
    expect(canActivate(Any, requestWith('sk-routing'))).toBe(true);
  });

  it('lets a method require another key type than its controller', () => {
    const request = requestWith('sk-routing');
    const context = contextOf(Mixed, request, Mixed.prototype.settings);
    expect(() => guard().canActivate(context)).toThrow(/management key/);
    expect(guard().canActivate(contextOf(Mixed, request))).toBe(true);
  });
});

function callerOf(keyType: ApiKeyType): Caller {
  return {
    tenantId: 'tenant',
    apiKeyId: 'key',
    keyType,
    keyName: 'a key',
    rateLimitPerMinute: 10,
  };
}

function guard(options?: { late: boolean; sessions?: object }): ApiKeyGuard {
  const known: Record<string, [ApiKeyType, ApiKeyStatus]> = {
    'sk-routing': ['routing', 'active'],
    'sk-mgmt-management': ['management', 'active'],
    'sk-expired': ['routing', 'expired'],
    'sk-revoked': ['routing', 'revoked'],
    'sk-suspended': ['routing', 'active'],
  };
  const directory: Pick<KeyDirectory, 'resolve'> = {
    resolve(presented) {
      const found = known[presented];
      const key: ResolvedKey | undefined = found && {
        caller: callerOf(found[0]),
        status: found[1],
        isSuspended: presented === 'sk-suspended',
      };
      return options?.late ? Promise.resolve(key) : key;
    },
  };
  return new ApiKeyGuard(
    new Reflector(),
    directory as KeyDirectory,
    new WrongKeys(new ClientNetworks(loadConfig({}, []))),
    new BodyBudget(1_000),
    (options?.sessions ?? { tokenOf: () => undefined }) as SessionGate,
  );
}

function requestWith(key: string, method = 'GET'): GatewayRequest {
  return {
    method,
    headers: { authorization: `Bearer ${key}` },
    socket: { remoteAddress: '192.0.2.1' },
  } as GatewayRequest;
}

function contextOf(
  controller: new () => object,
  request: GatewayRequest,
  handler: () => void = () => undefined,
): ExecutionContext {
  return {
    getClass: () => controller,
    getHandler: () => handler,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
}
