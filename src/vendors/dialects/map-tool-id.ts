import { createHash } from 'node:crypto';

/**
 * A tool call's id as a vendor takes it: unchanged where its alphabet and length allow, else a
 * digest of it, so that different ids stay different and the same one stays the same.
 */
export function mapToolId(id: string, maxLength = 64): string {
  if (id.length <= maxLength && /^[A-Za-z0-9_-]+$/.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('base64url').slice(0, 32)}`;
}
