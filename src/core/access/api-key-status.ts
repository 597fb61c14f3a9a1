export const API_KEY_STATUSES = ['active', 'expired', 'revoked'] as const;
export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number];

/** What a key is good for at a moment. Revocation is final, so it is named before expiry. */
export function apiKeyStatus(
  key: { expiresAt: Date | null; revokedAt: Date | null },
  nowMs: number,
): ApiKeyStatus {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt.getTime() <= nowMs) return 'expired';
  return 'active';
}
