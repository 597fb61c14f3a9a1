/** Most suggestions. */
const MOST = 3;
/** Minimum similarity, from 0 to 1. */
const LEAST_LIKENESS = 0.5;
/** Longer aliases are no typos. */
const MAX_LENGTH = 200;

/** Returns the ids most similar to an unknown alias, nearest first. */
export function nearestIds(alias: string, ids: readonly string[]): string[] {
  if (alias.length > MAX_LENGTH) return [];
  const own = pairsOf(alias);
  return ids
    .map((id) => ({ id, likeness: likenessOf(own, pairsOf(id)) }))
    .filter(({ likeness }) => likeness >= LEAST_LIKENESS)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, MOST)
    .map(({ id }) => id);
}

/** Returns Dice's coefficient: the share of common bigrams. */
function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of one) if (other.has(pair)) common++;
  return (2 * common) / Math.max(one.size + other.size, 1);
}

function pairsOf(text: string): Set<string> {
  const lower = text.toLowerCase();
  const pairs = new Set<string>();
  for (let at = 0; at < lower.length - 1; at++) pairs.add(lower.slice(at, at + 2));
  return pairs;
}
