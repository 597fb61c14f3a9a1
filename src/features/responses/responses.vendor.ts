import { nameSeal, sealOf } from '../../canonical/canonical-event.js';

/** The maker of the seals that this dialect spells without a maker's name. */
export const NATIVE_MAKER = 'openai';

/** A canonical seal as `encrypted_content`: that of the dialect's own vendor without its name. */
export function toEncryptedContent(seal: string): string {
  return sealOf(NATIVE_MAKER, seal) ?? seal;
}

/** The reverse. The vendor's own seals are base64, which has no colon. */
export function fromEncryptedContent(content: string): string {
  return /^[a-z][a-z0-9-]*:/.test(content) ? content : nameSeal(NATIVE_MAKER, content);
}
