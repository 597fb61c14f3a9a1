import { nameSignature, signatureBy } from '../../canonical/canonical-event.js';

/** Vendor of signatures that this dialect writes without a vendor name. */
const NATIVE_MAKER = 'openai';

/** Converts a canonical signature to `encrypted_content`; the native vendor's without its name. */
export function toEncryptedContent(signature: string): string {
  return signatureBy(NATIVE_MAKER, signature) ?? signature;
}

/** Converts `encrypted_content` back. Native signatures are base64, which has no colon. */
export function fromEncryptedContent(content: string): string {
  return /^[a-z][a-z0-9-]*:/.test(content) ? content : nameSignature(NATIVE_MAKER, content);
}
