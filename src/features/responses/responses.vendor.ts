import { nameSignature, signatureBy } from '../../canonical/canonical-event.js';

/** The maker of the signatures that this dialect spells without a maker's name. */
const NATIVE_MAKER = 'openai';

/** A canonical signature as `encrypted_content`: that of the dialect's own vendor without its name. */
export function toEncryptedContent(signature: string): string {
  return signatureBy(NATIVE_MAKER, signature) ?? signature;
}

/** The reverse. The vendor's own signatures are base64, which has no colon. */
export function fromEncryptedContent(content: string): string {
  return /^[a-z][a-z0-9-]*:/.test(content) ? content : nameSignature(NATIVE_MAKER, content);
}
