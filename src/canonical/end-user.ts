import { createHash } from 'node:crypto';

/** Characters of an end user's name that are kept; vendors take 64 to 512. */
const MAX_CHARACTERS = 256;

/**
 * The name by which limits and the log know a caller's end user: what stands in the dialect's field, or
 * of a longer text its hash, `sha256:` and 64 digits, so that no two become one.
 *
 * @param value of the field, whatever it holds
 * @returns undefined for what is no text, and for an empty one
 */
export function readEndUser(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (value.length <= MAX_CHARACTERS) return value;
  return `sha256:${createHash('sha256').update(value).digest('hex')}`;
}
