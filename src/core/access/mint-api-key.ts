import { randomBytes } from 'node:crypto';
import type { ApiKeyType } from './caller.js';

export const API_KEY_PREFIXES: Record<ApiKeyType, string> = {
  routing: 'sk-',
  management: 'sk-mgmt-',
};

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 × log2(62) = 256 bits. */
const RANDOM_CHARACTERS = 43;
/** The largest multiple of 62 in a byte: bytes from here on would favour the first characters. */
const UNBIASED_BYTES = 248;

/** A new key in plaintext: the prefix of its type and 43 random base62 characters. */
export function mintApiKey(type: ApiKeyType): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS - random.length)) {
      if (byte < UNBIASED_BYTES) random += BASE62[byte % BASE62.length];
    }
  }
  return API_KEY_PREFIXES[type] + random;
}
