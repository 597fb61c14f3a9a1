import { describe, expect, it } from '@jest/globals';
import { isRoutine, hideKeys } from './access-log.middleware.js';

describe(isRoutine.name, () => {
  it.each([
    ['/healthz', 200, true],
    ['/healthz', undefined, false],
    ['/readyz', 503, false],
    ['/readyz/x', 404, false],
    ['/console', 503, true],
    ['/console/assets/main-1.js', 200, true],
    ['/console/requests', undefined, true],
    ['/consoles', 404, false],
    ['/v1/models', 200, false],
  ])('returns for %s with status %s: %s', (path, status, isQuiet) => {
    expect(isRoutine(path, status)).toBe(isQuiet);
  });
});

describe(hideKeys.name, () => {
  it.each([
    ['/v1/customer/api-keys/sk-0123456789abcdef', '/v1/customer/api-keys/sk-…'],
    ['/v1/sk-mgmt-0123456789abcdef/x', '/v1/sk-…/x'],
    ['/v1/admin/keys/sk-admin-0123456789', '/v1/admin/keys/sk-…'],
    ['/sk-free form + 0123456/sk-0123456789', '/sk-…/sk-…'],
    ['/v1/models/sandbox/task-0123456789', '/v1/models/sandbox/task-0123456789'],
    ['/v1/Bearer%20sk-0123456789', '/v1/Bearer%20sk-…'],
    ['/v1/a%2Fsk-0123456789', '/v1/a%2Fsk-…'],
    ['/v1/key_sk-0123456789', '/v1/key_sk-…'],
    ['/v1/s%6B%2d0123456789/x', '/v1/sk-…/x'],
    ['/v1/%73k-mgmt-0123456789', '/v1/sk-…'],
    ['/v1/models/sk-1', '/v1/models/sk-1'],
    ['', ''],
  ])('makes %j %j', (text, hidden) => {
    expect(hideKeys(text)).toBe(hidden);
  });
});
