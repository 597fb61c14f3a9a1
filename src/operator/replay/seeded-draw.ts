const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Behind each text, so that no two lists of them are one. */
const END = 10;

/**
 * A fraction from 0 up to, but not including, 1: the same for the same texts. So a request is as lucky in one
 * replay as in another, and what differs between two replays is what was changed, and nothing else.
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
