import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import type { ApiKeyType } from './caller.js';
import { CustomerWritesGuard, mayReadContent } from './customer.decorator.js';
import type { ActingRole } from './roles.js';

describe(CustomerWritesGuard.name, () => {
  it.each(['GET', 'POST', 'PATCH', 'DELETE'])('allows %s with any key by default', (method) => {
    expect(decide('any', method, 'routing')).toBe(true);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'restricts %s to management keys when configured',
    (method) => {
      expect(() => decide('management', method, 'routing')).toThrow(
        expect.objectContaining({ status: 403, param: 'authorization' }),
      );
      expect(decide('management', method, 'management')).toBe(true);
    },
  );

  it.each(['GET', 'HEAD'])('allows %s with routing keys in either case', (method) => {
    expect(decide('management', method, 'routing')).toBe(true);
  });
});

describe(mayReadContent.name, () => {
  it.each<[ApiKeyType, ActingRole | undefined, boolean]>([
    ['management', undefined, true],
    ['routing', undefined, false],
    ['management', 'owner', true],
    ['management', 'developer', false],
    ['management', 'viewer', false],
    ['management', 'billing', false],
    ['management', 'admin', false],
    ['management', 'auditor', false],
  ])('for a %s key with the role %s returns %s', (keyType, actingRole, expected) => {
    const caller = { tenantId: 't', apiKeyId: 'k', keyName: 'a key', rateLimitPerMinute: 1 };
    expect(mayReadContent({ ...caller, keyType, ...(actingRole && { actingRole }) })).toBe(
      expected,
    );
  });
});

function decide(customerWrites: 'any' | 'management', method: string, keyType: ApiKeyType) {
  const request = { method, caller: { keyType } };
  return new CustomerWritesGuard({ customerWrites }).canActivate({
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext);
}
