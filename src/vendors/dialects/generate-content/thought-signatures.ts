import { nameSignature, signatureBy } from '../../../canonical/canonical-event.js';

const ISSUER = 'google';

/** Base64 has no colon, so no signature can start with this. */
const TEXT_MARK = 'text:';

/** Documented placeholder for a missing signature, which the vendor then does not check. */
export const SKIP_SIGNATURE_CHECK = 'skip_thought_signature_validator';

/** Names the signature of reasoning or of a tool call. */
export function nameThoughtSignature(signature: string): string {
  return nameSignature(ISSUER, signature);
}

/** Names the signature of the answer's text, to which it must be returned. */
export function nameTextSignature(signature: string): string {
  return nameSignature(ISSUER, TEXT_MARK + signature);
}

/** Parses a signature of this vendor and the part it was attached to. Undefined for other signatures. */
export function readThoughtSignature(
  named: string | undefined,
): { signature: string; isOnText: boolean } | undefined {
  const signature = signatureBy(ISSUER, named);
  if (signature === undefined || signature === '') return undefined;
  return signature.startsWith(TEXT_MARK)
    ? { signature: signature.slice(TEXT_MARK.length), isOnText: true }
    : { signature, isOnText: false };
}
