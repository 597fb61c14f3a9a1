import { nameSeal, sealOf } from '../../../canonical/canonical-event.js';

const MAKER = 'google';

/** Base64 has no colon, so this cannot begin a seal. */
const TEXT_MARK = 'text:';

/** The documented value in place of a seal that is not at hand; the check for one is then left out. */
export const NO_SEAL_AT_HAND = 'skip_thought_signature_validator';

/** A seal that came on a thought or on a tool call. */
export function nameGoogleSeal(seal: string): string {
  return nameSeal(MAKER, seal);
}

/** A seal that came on the answer's text, where it has to go back to. */
export function nameTextSeal(seal: string): string {
  return nameSeal(MAKER, TEXT_MARK + seal);
}

/** A seal of this maker, and what it came on; undefined for others' and for none. */
export function readGoogleSeal(
  named: string | undefined,
): { seal: string; isOnText: boolean } | undefined {
  const seal = sealOf(MAKER, named);
  if (seal === undefined || seal === '') return undefined;
  return seal.startsWith(TEXT_MARK)
    ? { seal: seal.slice(TEXT_MARK.length), isOnText: true }
    : { seal, isOnText: false };
}
