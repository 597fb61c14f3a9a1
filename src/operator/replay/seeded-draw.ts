const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Separates texts, so that different lists never hash alike. */
const END = 10;

/**
 * Returns a pseudo-random fraction in [0, 1) that depends only on the texts. A request therefore draws
 * the same value in every replay, and two replays differ only by the change.
 */
export function draw(...texts: readonly (string | number)[]): number {
  let hash = FNV_OFFSET;
  for (const text of texts) {
    const units = typeof text === 'string' ? text : String(text);
    for (let index = 0; index < units.length; index++) {
      hash = Math.imul(hash ^ units.charCodeAt(index), FNV_PRIME);
    }
    hash = Math.imul(hash ^ END, FNV_PRIME);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
