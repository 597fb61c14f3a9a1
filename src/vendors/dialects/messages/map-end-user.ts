import { createHash } from 'node:crypto';

/** What certainly is no e-mail address, no phone number and not too long: all that the vendor refuses. */
const OPAQUE = /^(?=.*[A-Za-z])[\w.:-]{1,128}$/;

/**
 * The caller's name for its end user as the vendor takes it: unchanged where it identifies nobody,
 * else a digest of it, so that the same user stays the same.
 */
export function mapEndUser(user: string): string {
  if (OPAQUE.test(user)) return user;
  return `user_${createHash('sha256').update(user).digest('base64url').slice(0, 32)}`;
}
