import { nameSignature, signatureBy } from '../../../canonical/canonical-event.js';

const ISSUER = 'google';

/** Base64 has no colon, so this cannot begin a signature. */
const TEXT_MARK = 'text:';

/** The documented value in place of a signature that is not at hand; the vendor then checks none. */
export const SKIP_SIGNATURE_CHECK = 'skip_thought_signature_validator';

/** Names the signature of a thought or of a tool call. */
export function nameThoughtSignature(signature: string): string {
  return nameSignature(ISSUER, signature);
}

/** Names the signature of the answer's text, where it has to go back to. */
export function nameTextSignature(signature: string): string {
  return nameSignature(ISSUER, TEXT_MARK + signature);
}

/** A signature of this vendor's, and what it came on; undefined for others' and for none. */
export function readThoughtSignature(
  named: string | undefined,
): { signature: string; isOnText: boolean } | undefined {
  const signature = signatureBy(ISSUER, named);
  if (signature === undefined || signature === '') return undefined;
  return signature.startsWith(TEXT_MARK)
    ? { signature: signature.slice(TEXT_MARK.length), isOnText: true }
    : { signature, isOnText: false };
}
