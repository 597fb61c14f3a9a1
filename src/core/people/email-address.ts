import { isEmail } from 'class-validator';
import { asciiLowerCase } from '../../platform/text/ascii-lower-case.js';
import { oneLine } from '../../platform/text/one-line.js';

/** RFC 5321: 64 of the local part, the @ and 255 of the domain. */
const MAX_ADDRESS_LENGTH = 320;

export const EMAIL_RULE =
  'must be an e-mail address in ASCII; write an international domain in its xn-- form';

/** Like `isEmail`, for ASCII addresses only: others look like addresses of someone else. */
export function isInvitableAddress(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && isEmail(value);
}

/**
 * Returns an address as the issuer gives it, with A to Z in lower case; null when there is none, or one with spaces or
 * invisible characters, which would look like the address without them.
 */
export function claimedAddress(claim: unknown): string | null {
  if (typeof claim !== 'string' || claim === '' || /\s/u.test(claim)) return null;
  return oneLine(claim, MAX_ADDRESS_LENGTH) === claim ? asciiLowerCase(claim) : null;
}
