import { describe, expect, it } from '@jest/globals';
import { apiKeyStatus } from './api-key.entity.js';

const NOW_MS = Date.UTC(2026, 0, 1);
const at = (offsetMs: number) => new Date(NOW_MS + offsetMs);

describe(apiKeyStatus.name, () => {
  it.each([
    { expiresAt: null, revokedAt: null, status: 'active' },
    { expiresAt: at(1), revokedAt: null, status: 'active' },
    { expiresAt: at(0), revokedAt: null, status: 'expired' },
    { expiresAt: at(-1), revokedAt: null, status: 'expired' },
    { expiresAt: null, revokedAt: at(-1), status: 'revoked' },
    { expiresAt: at(-1), revokedAt: at(-1), status: 'revoked' },
  ])('is $status with expiry $expiresAt and revocation $revokedAt', ({ status, ...key }) => {
    expect(apiKeyStatus(key, NOW_MS)).toBe(status);
  });
});
