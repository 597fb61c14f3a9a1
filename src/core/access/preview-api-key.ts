import { API_KEY_PREFIXES } from './mint-api-key.js';

const SHOWN = 4;
/** Of fewer characters behind the prefix, 2 + 2 are shown, so that most of a short key stays hidden. */
const SHORT = 3 * SHOWN;

/** What may be shown of a key: its prefix, 4 characters, `...`, and the last 4. */
export function previewApiKey(plaintext: string): string {
  const prefix = plaintext.startsWith(API_KEY_PREFIXES.management)
    ? API_KEY_PREFIXES.management
    : API_KEY_PREFIXES.routing;
  const rest = plaintext.slice(prefix.length);
  const shown = rest.length < SHORT ? SHOWN / 2 : SHOWN;
  return `${prefix}${rest.slice(0, shown)}...${rest.slice(-shown)}`;
}
