import { createHash } from 'node:crypto';

/** Longest end-user identifier kept verbatim; vendors accept 64 to 512 characters. */
const MAX_CHARACTERS = 256;

/**
 * Returns the identifier of a caller's end user in limits and the log: the dialect's field, or
 * `sha256:` and 64 hex digits for longer texts, so that they stay distinct.
 *
 * @param value the raw field
 * @returns undefined for an empty text or anything else
 */
export function readEndUser(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (value.length <= MAX_CHARACTERS) return value;
  return `sha256:${createHash('sha256').update(value).digest('hex')}`;
}
