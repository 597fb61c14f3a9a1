import { hash } from 'node:crypto';

/**
 * The SHA-256 of a key in hex, the only form in which keys are compared. A fast hash is enough:
 * keys are random, not chosen by people, so there is no dictionary to try.
 */
export function hashApiKey(plaintext: string): string {
  return hash('sha256', plaintext, 'hex');
}
