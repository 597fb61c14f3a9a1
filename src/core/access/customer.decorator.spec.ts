import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import type { ApiKeyType } from './caller.js';
import { CustomerWritesGuard, mayReadContent } from './customer.decorator.js';
import type { ActingRole } from './roles.js';

describe(CustomerWritesGuard.name, () => {
  it.each(['GET', 'POST', 'PATCH', 'DELETE'])('lets any key %s by default', (method) => {
    expect(decide('any', method, 'routing')).toBe(true);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'keeps %s to management keys if told so',
    (method) => {
      expect(() => decide('management', method, 'routing')).toThrow(
        expect.objectContaining({ status: 403, param: 'authorization' }),
      );
      expect(decide('management', method, 'management')).toBe(true);
    },
  );

  it.each(['GET', 'HEAD'])('lets routing keys %s in either case', (method) => {
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
  ])('takes a %s key, or a member who is %s: %s', (keyType, actingRole, expected) => {
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
