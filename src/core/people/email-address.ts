import { isEmail } from 'class-validator';
import { asciiLowerCase } from '../../platform/text/ascii-lower-case.js';
import { oneLine } from '../../platform/text/one-line.js';

/** RFC 5321: 64 for the local part, the @, and 255 for the domain. */
const MAX_ADDRESS_LENGTH = 320;

export const EMAIL_RULE =
  'must be an e-mail address in ASCII; write an international domain in its xn-- form';

/** Returns whether a value is an ASCII e-mail address; other characters could imitate someone's address. */
export function isInvitableAddress(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && isEmail(value);
}

/**
 * Returns an issuer's e-mail claim with A to Z in lower case. Null when it is absent or contains spaces or
 * invisible characters, which would make it look like another address.
 */
export function claimedAddress(claim: unknown): string | null {
  if (typeof claim !== 'string' || claim === '' || /\s/u.test(claim)) return null;
  return oneLine(claim, MAX_ADDRESS_LENGTH) === claim ? asciiLowerCase(claim) : null;
}
