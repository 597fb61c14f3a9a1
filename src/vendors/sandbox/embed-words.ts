/** Default dimensions of a sandbox vector. */
export const SANDBOX_DIMENSIONS = 256;
export const MAX_SANDBOX_DIMENSIONS = 4_096;

/** Components of the vector that each word affects. */
const PLACES_PER_WORD = 4;

/**
 * Returns a unit vector that depends only on the words, so that texts with common words are similar. Its
 * numbers are 32-bit floats, the same in either encoding.
 */
export function embedWords(words: readonly string[], dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of words) {
    let hash = hashOf(word);
    for (let place = 0; place < PLACES_PER_WORD; place++) {
      const index = hash % dimensions;
      vector[index] = (vector[index] ?? 0) + (hash & 0x8000_0000 ? -1 : 1);
      hash = mix(hash);
    }
  }
  const length = Math.hypot(...vector);
  // No words, or words that cancel each other out.
  if (length === 0) return vector.map((_, index) => (index === 0 ? 1 : 0));
  return vector.map((value) => Math.fround(value / length));
}

/** FNV-1a over UTF-16 units, with a final mix. */
function hashOf(word: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < word.length; index++) {
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x0100_0193);
  }
  return mix(hash >>> 0);
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
