import { sealOf } from '../../../canonical/canonical-event.js';

/**
 * The signature in a seal of this maker's; undefined when another one made it. Signatures are
 * base64: what holds a colon is a thought that the maker has encrypted as a whole. It comes from
 * the maker's own API, and this one has another spelling for such thoughts.
 */
export function signatureOf(maker: string, named: string | undefined): string | undefined {
  const seal = sealOf(maker, named);
  return seal?.includes(':') === true ? undefined : seal;
}
