import { hash, randomBytes } from 'node:crypto';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { parseIsoDateTime } from '../../platform/time/dates.js';
import type { ApiKeyType } from './caller.js';

/** Prefix by key type; `admin` keys belong to operators. */
const KEY_PREFIXES = {
  management: 'sk-mgmt-',
  admin: 'sk-admin-',
  routing: 'sk-',
} satisfies Record<ApiKeyType | 'admin', string>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 × log2(62) = 256 bits. */
const RANDOM_CHARACTERS = 43;

/** The largest multiple of 62 in a byte: bytes from here on would favour the first characters. */
const UNBIASED_BYTES = 248;

const SHOWN = 4;

/** Shorter keys show 2 + 2 characters after the prefix, so most of the key stays hidden. */
const SHORT = 3 * SHOWN;

/** Returns the displayable form of a key: prefix, 4 characters, `...`, last 4 characters. */
export function previewApiKey(plaintext: string): string {
  const { routing } = KEY_PREFIXES;
  const prefix = Object.values(KEY_PREFIXES).find((each) => plaintext.startsWith(each)) ?? routing;
  const rest = plaintext.slice(prefix.length);
  const shown = rest.length < SHORT ? SHOWN / 2 : SHOWN;
  return `${prefix}${rest.slice(0, shown)}...${rest.slice(-shown)}`;
}

/**
 * Returns the SHA-256 of a key in hex, the only form in which keys are compared. A fast hash is enough:
 * keys are random, so there is no dictionary to try.
 */
export function hashApiKey(plaintext: string): string {
  return hash('sha256', plaintext, 'hex');
}

/** Generates a plaintext key: the prefix of its type and 43 random base62 characters. */
export function mintApiKey(type: keyof typeof KEY_PREFIXES): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS - random.length)) {
      if (byte < UNBIASED_BYTES) random += BASE62[byte % BASE62.length];
    }
  }
  return KEY_PREFIXES[type] + random;
}

/** Returns whether a key has the prefix of operator keys. */
export function isAdminKey(plaintext: string): boolean {
  return plaintext.startsWith(KEY_PREFIXES.admin);
}

/**
 * Parses the `expires_at` of a body: undefined when absent, null for never.
 *
 * @throws InvalidRequestError unless it lies in the future
 */
export function readExpiry(
  text: string | null | undefined,
  param = 'expires_at',
): Date | null | undefined {
  if (text === undefined || text === null) return text;
  const expiresAt = parseIsoDateTime(text);
  if (!expiresAt || expiresAt.getTime() <= Date.now()) {
    throw new InvalidRequestError(param, `${param} must lie in the future.`);
  }
  return expiresAt;
}
